#include "analyzer/flow/program/field_stores.h"

#include <algorithm>
#include <set>

namespace dtype_guard::flow {

// Whether a function that is none of its methods is handed such an object or makes one.
bool FieldStores::deals_with(std::uint32_t function, std::string_view class_name) const {
  const std::vector<Parameter>& parameters = index_.function(function).parameters;
  const std::vector<std::uint32_t>& called = index_.callees(function);
  return std::any_of(parameters.begin(), parameters.end(),
                     [&](const Parameter& each) { return each.type == class_name; }) ||
         std::any_of(called.begin(), called.end(),
                     [&](std::uint32_t each) { return index_.function(each).class_name == class_name; });
}

namespace {
// Addresses that are written through in the function, and those that it hands out.
struct Addresses {
  explicit Addresses(const Function& code) {
    for (const Block& block : code.blocks) {
      for (const Instruction& each : block.instructions) {
        if (each.op == Op::kRetype && !each.args.empty()) written.insert(each.args[0].value);
        if (each.op == Op::kStore && each.place.path.empty()) written.insert(each.place.base);
        if (each.op != Op::kReturn && each.op != Op::kPack) continue;
        for (const Argument& one : each.args) handed_out.insert(one.value);
      }
    }
  }
  std::set<ValueId> written, handed_out;
};
}  // namespace

// Stores by constructors are not counted.
void FieldStores::note_stores(std::uint32_t id) const {
  const Function& code = index_.function(id);
  if (code.kind == FunctionKind::kConstructor) return;
  const Addresses addresses(code);
  std::set<ValueId> own;
  for (const Block& block : code.blocks) {
    for (const Instruction& each : block.instructions) {
      const auto* index = each.op == Op::kParam ? std::get_if<std::int64_t>(&each.constant) : nullptr;
      if (code.kind == FunctionKind::kMethod && index && *index == 0) own.insert(each.result);
      if (each.op != Op::kStore && each.op != Op::kAddress) continue;
      const auto last =
          std::find_if(each.place.path.rbegin(), each.place.path.rend(),
                       [](const Place::Step& step) { return step.kind == Place::Step::Kind::kField; });
      if (last == each.place.path.rend()) continue;
      const bool of_this = last + 1 == each.place.path.rend() && own.contains(each.place.base);
      const bool handed_out = each.op == Op::kAddress && addresses.handed_out.contains(each.result);
      // Code that takes the address of another object's field mostly reads it.
      if (of_this || each.op == Op::kStore || addresses.written.contains(each.result))
        (*stores_)[last->field].push_back({id, of_this, handed_out});
    }
  }
}

const std::vector<FieldStores::Reassigned>& FieldStores::reassigned(const std::string& class_name) const {
  if (!stores_) {
    stores_.emplace();
    for (std::uint32_t i = 0; i < index_.module().functions.size(); ++i) note_stores(i);
  }
  const auto [found, is_new] = reassigned_.try_emplace(class_name);
  if (!is_new || !index_.class_facts(class_name)) return found->second;
  for (const auto& [name, all] : *stores_) {
    std::set<std::uint32_t> seen;
    for (const FieldStore& each : all) {
      const std::string& by = index_.function(each.function).class_name;
      const bool related = each.own && (classes_.derives(class_name, by) || classes_.derives(by, class_name));
      if (each.own ? !related : !deals_with(each.function, class_name)) continue;
      if (!seen.insert(each.function).second) continue;
      const bool followed = each.own && !each.handed_out;
      found->second.push_back({name, followed ? std::optional(each.function) : std::nullopt});
    }
  }
  return found->second;
}

}  // namespace dtype_guard::flow
