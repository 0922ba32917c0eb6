// Programs of classes: modules with parameters and buffers, functions that make and convert them, and methods
// that are roots. What is true of a class in one setting, or of one function, must not leak into another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/flow/ir/ir.h"
#include "tests/oracle/writer.h"

namespace dtype_guard::oracle {

// What a constructor gives an object: tensors, most of them registered, and where a class is named a module.
inline constexpr const char* kMembers[] = {"weight", "table"};
inline constexpr const char* kPart = "part";
flow::Function constructor_of(const std::string& class_name, const std::string& part, Random& random,
                              int& line);

// A class with a field that only its setters store to (their names begin with kSetter), and a method that
// reads it, which is the root.
flow::Module class_with_setters(std::uint64_t seed);

// One file for each class, as a front end gives them.
std::vector<flow::Module> class_files(std::uint64_t seed);

}  // namespace dtype_guard::oracle
