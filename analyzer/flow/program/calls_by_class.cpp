#include "analyzer/flow/program/calls_by_class.h"

#include <algorithm>

namespace dtype_guard::flow {
namespace {
// Classes whose methods an object of a class, or of one that derives from it, may have.
std::map<std::string_view, std::set<std::string_view>> kin_of_all(const FunctionIndex& index) {
  std::map<std::string_view, std::set<std::string_view>> out;
  for (const ClassFacts& each : index.module().classes) {
    std::set<std::string_view> own = {each.name};
    std::vector<const ClassFacts*> work = {&each};
    while (!work.empty()) {
      const ClassFacts* next = work.back();
      work.pop_back();
      for (const std::string& base : next->bases) {
        const ClassFacts* above = own.insert(base).second ? index.class_facts(base) : nullptr;
        if (above) work.push_back(above);
      }
    }
    for (const std::string_view one : own) out[one].insert(own.begin(), own.end());
  }
  return out;
}
}  // namespace

bool CallsByClass::are_kin(std::string_view one, std::string_view other) const {
  if (!kin_) kin_ = std::make_shared<const Kin>(kin_of_all(index_));
  const auto found = kin_->find(one);
  return one == other || (found != kin_->end() && found->second.contains(other));
}

bool CallsByClass::is_stranger(const std::string* owner, std::uint32_t one) const {
  return owner && !are_kin(*owner, index_.function(one).class_name);
}

// The class whose method the call names; null where it names none.
const std::string* CallsByClass::owner_of(const Instruction& call) const {
  if (call.op != Op::kCall || !call.name.starts_with(kAttributeCall)) return nullptr;
  const std::size_t key = call.name.find("::", kAttributeCall.size());
  if (key == std::string::npos) return nullptr;
  const std::vector<std::uint32_t>& named = index_.find(std::string_view(call.name).substr(key + 2));
  if (named.size() != 1 || index_.function(named.front()).class_name.empty()) return nullptr;
  return &index_.function(named.front()).class_name;
}

// Left out is what only a call of another class's named method might run.
std::vector<std::uint32_t> CallsByClass::find(std::uint32_t function) const {
  std::set<std::uint32_t> strangers, others;
  for (const Instruction* each : index_.effects(function).runs) {
    const std::vector<std::uint32_t>& found = index_.may_run(*each);
    const std::string* owner = found.empty() ? nullptr : owner_of(*each);
    for (const std::uint32_t one : found) (is_stranger(owner, one) ? strangers : others).insert(one);
  }
  std::vector<std::uint32_t> out = index_.callees(function);
  std::erase_if(out, [&](std::uint32_t each) { return strangers.contains(each) && !others.contains(each); });
  return out;
}

}  // namespace dtype_guard::flow
