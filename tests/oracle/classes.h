// Programs of classes: modules with parameters and buffers, functions that make and convert them, and methods
// that are roots. What is true of a class in one setting, or of one function, must not leak into another.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/flow/ir/ir.h"

namespace dtype_guard::oracle {

// One file for each class, as a front end gives them.
std::vector<flow::Module> class_files(std::uint64_t seed);

}  // namespace dtype_guard::oracle
