// The code of a module outside its functions, as a function of the IR: a program of its own like `main`, but
// one that a file may have which others import. What functions of the module see of its variables are fields
// of one object, "globals::FILE".
#pragma once

#include <string_view>

#include "analyzer/flow/ir/ir.h"

namespace dtype_guard::flow {

inline constexpr std::string_view kModuleCode = "<module>";
// The operator that gives the object of a file.
inline constexpr std::string_view kGlobals = "globals::";
// Begins the key of what a context does as it is entered; the block that it is for takes it back.
inline constexpr std::string_view kEntered = "entered::";
// A context that is entered and of which nothing is known: it may turn autocast on or off.
inline constexpr std::string_view kUnseenContext = "unseen_context";
// In a file that chooses among the kernels of a call: by a name of library_names.h.
inline constexpr std::string_view kChosenKernels = "chosen_kernels";
// Asks for the default dtype.
inline constexpr std::string_view kDefaultDtype = "default_dtype";
// In a file that sets the default dtype somewhere: the one under which a function runs, or an object is made,
// that a caller hands in is not known.
inline constexpr std::string_view kOpenDefaultDtype = "open_default_dtype";
// The device of `autocast_enabled::`, and of torch.is_autocast_enabled in models of libraries, that asks
// whether the program has models run in another precision than they were loaded in: by autocast, a
// conversion, a trainer.
inline constexpr std::string_view kElsewhere = "elsewhere";
// class_attribute(object, name, value): what the object's class holds, where the object has no own; and
// "of_class::CLASS" the same asked of the class. Not what other code sets.
inline constexpr std::string_view kClassAttribute = "class_attribute";
inline constexpr std::string_view kOfClass = "of_class::";
// any(tests) and all(tests).
inline constexpr std::string_view kAnyOf = "python::any", kAllOf = "python::all";
// is_instance::CLASS(object): whether it is an object of that class, or of one that derives from it.
inline constexpr std::string_view kIsInstance = "is_instance::";
// Begins the key of the function that gives an object what its class holds; the class's name follows.
inline constexpr std::string_view kAttributesOf = "attributes::";
// global_of(object, name, otherwise): what the module's code, where it runs, has made of a name by now.
inline constexpr std::string_view kGlobalOf = "global_of";

inline bool is_module_code(const Function& function) {
  return function.is_main && function.name == kModuleCode;
}

}  // namespace dtype_guard::flow
