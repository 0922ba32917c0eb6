#include "analyzer/flow/program/default_dtypes.h"

#include <map>
#include <set>
#include <string>
#include <variant>

#include "analyzer/flow/ir/module_code.h"

namespace dtype_guard::flow {
namespace {

bool sets_another_for_good(const Function& function) {
  if (function.foreign || function.key.starts_with(kEntered)) return false;
  std::map<ValueId, const Instruction*> made;
  int sets = 0, others = 0;
  bool asks = false;
  for (const Block& block : function.blocks) {
    for (const Instruction& each : block.instructions) {
      if (each.result) made[each.result] = &each;
      asks = asks || (each.op == Op::kOperator && each.name == kDefaultDtype);
      if (each.op != Op::kSetDefaultDtype || each.args.empty()) continue;
      ++sets;
      const auto by = made.find(each.args[0].value);
      const Dtype* known = by == made.end() ? nullptr : std::get_if<Dtype>(&by->second->constant);
      if (!known || *known != Dtype::kFloat32) ++others;
    }
  }
  const bool restores = sets > 1 && (asks || others < sets);
  return others > 0 && !restores;
}

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

std::vector<bool> DefaultDtypes::find() const {
  const std::size_t count = index_.module().functions.size();
  std::vector<std::uint32_t> setters;
  for (std::uint32_t i = 0; i < count; ++i)
    if (sets_another_for_good(index_.function(i))) setters.push_back(i);
  if (setters.empty()) return {};
  const std::vector<bool> lead = closure(
      setters, count, [&](std::uint32_t each) -> const auto& { return callers_.by_key()[each]; });
  std::vector<std::uint32_t> called;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!lead[i]) continue;
    for (const std::uint32_t each : index_.callees_by_key(i))
      if (!lead[each]) called.push_back(each);
  }
  const Methods methods(index_);
  return closure(called, count, [&](std::uint32_t each) {
    std::vector<std::uint32_t> out = index_.callees_by_key(each);
    const Function& function = index_.function(each);
    if (function.kind != FunctionKind::kConstructor) return out;
    const std::vector<std::uint32_t> own = methods.of(function.class_name);
    out.insert(out.end(), own.begin(), own.end());
    return out;
  });
}

bool DefaultDtypes::may_differ_for(std::uint32_t function) const {
  if (!differ_) differ_ = find();
  return !differ_->empty() && (*differ_)[function];
}

}  // namespace dtype_guard::flow
