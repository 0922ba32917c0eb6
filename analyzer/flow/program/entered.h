// What a function enters: what it calls, and lambdas that it makes. Not what it has the address of, which may
// be called from anywhere, nor what the kernel of a registered operator calls, which is for others as well.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/flow/program/function_index.h"

namespace dtype_guard::flow {

class Entered {
 public:
  explicit Entered(const FunctionIndex& index) : index_(index), entered_(index.module().functions.size()) {}
  Entered(const FunctionIndex& index, const Entered& before, const std::vector<std::uint32_t>& bodies)
      : index_(index), entered_(before.entered_, bodies) {}
  const std::vector<std::uint32_t>& from(std::uint32_t function) const {
    return entered_.of(function, [&] { return find(function); });
  }

 private:
  std::vector<std::uint32_t> find(std::uint32_t function) const;

  const FunctionIndex& index_;
  FunctionResults<std::vector<std::uint32_t>> entered_;
};

}  // namespace dtype_guard::flow
