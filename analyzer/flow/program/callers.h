// Who calls each function: FunctionIndex::callees read from the other end, once for the whole program.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/flow/program/function_index.h"

namespace dtype_guard::flow {

class Callers {
 public:
  explicit Callers(const FunctionIndex& index) : index_(index) {}
  // In the program's order, each once; a function that calls itself is among its own.
  const std::vector<std::uint32_t>& of(std::uint32_t function) const { return all()[function]; }
  const std::vector<std::vector<std::uint32_t>>& all() const;
  // Less what is called by a method's name alone, which any class may have.
  const std::vector<std::vector<std::uint32_t>>& by_key() const;

 private:
  const FunctionIndex& index_;
  mutable std::optional<std::vector<std::vector<std::uint32_t>>> all_, by_key_;
};

}  // namespace dtype_guard::flow
