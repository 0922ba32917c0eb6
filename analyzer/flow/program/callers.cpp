#include "analyzer/flow/program/callers.h"

#include <utility>

namespace dtype_guard::flow {

const std::vector<std::vector<std::uint32_t>>& Callers::all() const {
  if (all_) return *all_;
  std::vector<std::vector<std::uint32_t>> out(index_.module().functions.size());
  for (std::uint32_t caller = 0; caller < out.size(); ++caller) {
    for (const std::uint32_t callee : index_.callees(caller)) out[callee].push_back(caller);
  }
  return all_.emplace(std::move(out));
}

const std::vector<std::vector<std::uint32_t>>& Callers::by_key() const {
  if (by_key_) return *by_key_;
  std::vector<std::vector<std::uint32_t>> out(index_.module().functions.size());
  for (std::uint32_t caller = 0; caller < out.size(); ++caller) {
    for (const std::uint32_t callee : index_.callees_by_key(caller)) out[callee].push_back(caller);
  }
  return by_key_.emplace(std::move(out));
}

}  // namespace dtype_guard::flow
