// Functions without source as values: what they do is reported, and could be edited, where they are called.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "analyzer/flow/engine/activation.h"
#include "analyzer/flow/program/function_index.h"

namespace dtype_guard::flow {

class Stubs {
 public:
  explicit Stubs(const FunctionIndex& index) : index_(index) {}

  const Stub* stub_at(std::uint32_t function, const Instruction* site);

 private:
  const FunctionIndex& index_;
  std::map<std::pair<const Instruction*, std::uint32_t>, std::shared_ptr<Stub>> stubs_;
};

}  // namespace dtype_guard::flow
