// What each function calls, as FunctionIndex::callees; but where the front end found which method of an
// object's class is meant, only those of its kin can run instead.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/flow/program/function_index.h"

namespace dtype_guard::flow {

class CallsByClass {
 public:
  explicit CallsByClass(const FunctionIndex& index)
      : index_(index), calls_(index.module().functions.size()) {}
  CallsByClass(const FunctionIndex& index, const CallsByClass& before,
               const std::vector<std::uint32_t>& bodies)
      : index_(index), calls_(before.calls_, bodies), kin_(before.kin_) {}
  const std::vector<std::uint32_t>& of(std::uint32_t function) const {
    return calls_.of(function, [&] { return find(function); });
  }

 private:
  using Kin = std::map<std::string_view, std::set<std::string_view>>;
  std::vector<std::uint32_t> find(std::uint32_t function) const;
  bool are_kin(std::string_view one, std::string_view other) const;
  bool is_stranger(const std::string* owner, std::uint32_t one) const;
  const std::string* owner_of(const Instruction& call) const;

  const FunctionIndex& index_;
  FunctionResults<std::vector<std::uint32_t>> calls_;
  mutable std::shared_ptr<const Kin> kin_;  // by class, once that is asked
};

}  // namespace dtype_guard::flow
