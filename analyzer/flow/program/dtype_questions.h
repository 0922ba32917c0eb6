// Which functions ask for dtypes, what they lead to included; and whether any states a precision.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "analyzer/flow/program/function_index.h"

namespace dtype_guard::flow {

class DtypeQuestions {
 public:
  explicit DtypeQuestions(const FunctionIndex& index) : index_(index) {}
  // Whether it, or what it leads to, asks for the dtype of a tensor.
  bool asks_for_dtypes(std::uint32_t function) const;
  // Whether any function of the project may have a model run in another precision than it was loaded in.
  bool states_precision() const;

 private:
  const FunctionIndex& index_;
  mutable std::map<std::uint32_t, bool> asks_for_dtypes_;
  mutable std::optional<bool> states_precision_;
};

}  // namespace dtype_guard::flow
