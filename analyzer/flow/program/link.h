// Joins what several source files say into one program, in which functions of one file call those of another.
// A definition that several files have (an inline function, a template's instantiation) becomes one. A
// compile database often holds several programs, so two different definitions of one key are no error: a file
// that has one calls its own, and a call from any other file stays unknown, as does one of a virtual function
// that some other file overrides.
#pragma once

#include <string_view>
#include <vector>

#include "analyzer/flow/ir/ir.h"

namespace dtype_guard::flow {

// Ends the name of a function that is called where another file may override it.
inline constexpr std::string_view kOverridden = "@overridden";

// The result depends on the order of the modules only in the order of its functions.
Module link(std::vector<Module> modules);

}  // namespace dtype_guard::flow
