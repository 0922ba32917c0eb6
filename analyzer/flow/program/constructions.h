// Where the program makes objects of a class and says more of them than sizes: flags, names, functions,
// classes and parts that its constructor leaves open to anyone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/flow/program/function_index.h"

namespace dtype_guard::flow {

struct Construction {
  std::uint32_t function = 0;
  const Instruction* instruction = nullptr;  // that makes the object
};

class Constructions {
 public:
  explicit Constructions(const FunctionIndex& index) : index_(index) {}
  // Functions that make one so, or that so make what makes one. Not those that name a dtype: a model that is
  // made in another one is told another.
  std::vector<std::uint32_t> makers(const std::string& class_name) const;
  // All places in which the program makes one. None where they are many, one of them names a dtype, or is in
  // a function that keeps it, as a demonstration does, which has a model of its own.
  std::vector<Construction> all_of(const std::string& class_name) const;

 private:
  enum class Says : std::uint8_t { kNothing, kSomething, kDtype };
  const std::vector<Construction>& of(const std::string& class_name) const;
  Says says(const Construction& construction) const;

  const FunctionIndex& index_;
  mutable std::optional<std::map<std::string, std::vector<Construction>>> by_class_;
};

}  // namespace dtype_guard::flow
