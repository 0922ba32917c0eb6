#include "analyzer/flow/program/run_behind.h"

#include <map>
#include <set>
#include <string>

namespace dtype_guard::flow {
namespace {

// Those from which one of these is reached, or that one of these reaches.
template <typename Next>
std::vector<bool> closure(std::vector<std::uint32_t> work, std::size_t count, const Next& next) {
  std::vector<bool> out(count);
  for (const std::uint32_t each : work) out[each] = true;
  while (!work.empty()) {
    const std::uint32_t from = work.back();
    work.pop_back();
    for (const std::uint32_t each : next(from)) {
      if (out[each]) continue;
      out[each] = true;
      work.push_back(each);
    }
  }
  return out;
}

// Of an object's class and those that it derives from.
class Methods {
 public:
  explicit Methods(const FunctionIndex& index) : index_(index) {
    for (std::uint32_t i = 0; i < index.module().functions.size(); ++i)
      of_[index.function(i).class_name].push_back(i);
  }
  std::vector<std::uint32_t> of(const std::string& class_name) const {
    std::vector<std::uint32_t> out;
    std::set<std::string> seen = {class_name};
    std::vector<std::string> work = {class_name};
    while (!work.empty()) {
      const std::string one = std::move(work.back());
      work.pop_back();
      if (const auto own = of_.find(one); own != of_.end())
        out.insert(out.end(), own->second.begin(), own->second.end());
      const ClassFacts* facts = index_.class_facts(one);
      if (!facts) continue;
      for (const std::string& base : facts->bases)
        if (seen.insert(base).second) work.push_back(base);
    }
    return out;
  }

 private:
  const FunctionIndex& index_;
  std::map<std::string, std::vector<std::uint32_t>> of_;
};

}  // namespace

std::vector<bool> run_behind(const FunctionIndex& index, const Callers& callers,
                             const std::vector<std::uint32_t>& functions) {
  const std::size_t count = index.module().functions.size();
  const std::vector<bool> lead = closure(
      functions, count, [&](std::uint32_t each) -> const auto& { return callers.by_key()[each]; });
  std::vector<std::uint32_t> called;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!lead[i]) continue;
    for (const std::uint32_t each : index.callees_by_key(i))
      if (!lead[each]) called.push_back(each);
  }
  const Methods methods(index);
  return closure(called, count, [&](std::uint32_t each) {
    std::vector<std::uint32_t> out = index.callees_by_key(each);
    const Function& function = index.function(each);
    if (function.kind != FunctionKind::kConstructor) return out;
    const std::vector<std::uint32_t> own = methods.of(function.class_name);
    out.insert(out.end(), own.begin(), own.end());
    return out;
  });
}

}  // namespace dtype_guard::flow
