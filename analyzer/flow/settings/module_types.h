// Library modules, of which modules.json says what their forward does: their bodies are not analysed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rules/operators/library_names.h"

namespace dtype_guard::flow {

// Runs the modules that it holds, one after the other.
inline constexpr std::string_view kSequential = name_of(Named::kModuleSequence);
inline constexpr std::string_view kModuleDict = name_of(Named::kModuleDictionary);

// A module of the framework whose body is not analysed.
struct ModuleType {
  struct Tensor {
    std::string name;
    int rank = 0;
  };
  // One of the operator's results by its number, or a tuple of what stands in it.
  struct Result {
    int number = 0;
    std::vector<Result> parts;
  };
  std::vector<std::string> types;  // "torch::nn::Linear"
  bool norm = false;
  std::vector<Tensor> parameters;
  std::vector<Tensor> buffers;
  std::string forward;  // operator; empty: gives its input back
  // In the operator's order: "$0" an input, "$1|$0" the second or, where it is left out or undefined, one
  // made like the first; "" left out; else a parameter.
  std::vector<std::string> arguments;
  std::optional<Result> results;  // of an operator that gives several
  std::string contract;           // what its forward is called there; empty: it has none
};

// Of `arguments`.
inline bool is_input(std::string_view argument) { return argument.starts_with('$'); }
inline bool is_first_input(std::string_view argument) { return is_input(argument) && argument[1] == '0'; }

// By type, with or without "Impl", or by the name of its forward ("torch::nn::Linear::forward").
const ModuleType* find_module_type(std::string_view type);

}  // namespace dtype_guard::flow
