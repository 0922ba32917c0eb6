#include "analyzer/flow/program/class_hierarchy.h"

#include <algorithm>
#include <optional>
#include <set>

#include "analyzer/flow/ir/module_code.h"

namespace dtype_guard::flow {
namespace {
constexpr std::size_t kMaxOverrides = 8;
constexpr std::size_t kMaxHeirs = 4;  // of one method
}  // namespace

ClassHierarchy::ClassHierarchy(const FunctionIndex& index) : index_(index) {
  const std::vector<ClassFacts>& all = index.module().classes;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    for (const std::string& each : all[i].bases) below_[each].push_back(i);
  }
}

std::vector<std::uint32_t> ClassHierarchy::known_heirs(std::string_view class_name) const {
  std::set<std::uint32_t> out;
  std::vector<std::string_view> work = {class_name};
  while (!work.empty()) {
    const auto found = below_.find(work.back());
    work.pop_back();
    if (found == below_.end()) continue;
    for (const std::uint32_t each : found->second) {
      if (out.insert(each).second) work.push_back(index_.module().classes[each].name);
    }
  }
  return {out.begin(), out.end()};
}

std::vector<std::uint32_t> ClassHierarchy::inherited(std::string_view class_name, std::string_view method,
                                                     std::size_t parameters, std::uint32_t unit) const {
  std::vector<std::string_view> level = {class_name};
  for (int depth = 0; depth < kMaxBases && !level.empty(); ++depth) {
    std::vector<std::uint32_t> out;
    std::vector<std::string_view> above;
    for (const std::string_view each : level) {
      const auto own = index_.methods(std::string(each) + "::" + std::string(method), parameters, unit);
      out.insert(out.end(), own.begin(), own.end());
      const ClassFacts* facts = index_.class_facts(each);
      if (facts) above.insert(above.end(), facts->bases.begin(), facts->bases.end());
    }
    if (!out.empty()) return out;
    level = std::move(above);
  }
  return {};
}

void ClassHierarchy::note_bases(const ClassFacts& facts, int depth, Lineage& out) const {
  for (const std::string& each : facts.bases) {
    const ClassFacts* above = each == kUnknownClass ? nullptr : index_.class_facts(each);
    if (!above) out.is_open = true;
    const bool is_new = out.bases.insert(each).second;
    if (above && is_new && depth < kMaxBases) note_bases(*above, depth + 1, out);
  }
}

bool ClassHierarchy::derives(std::string_view class_name, std::string_view base) const {
  if (class_name == base) return true;
  const ClassFacts* facts = index_.class_facts(class_name);
  if (!facts) return true;
  const auto [lineage, is_new] = lineages_.try_emplace(facts);
  if (is_new) note_bases(*facts, 1, lineage->second);
  return lineage->second.is_open || lineage->second.bases.contains(base);
}

const std::vector<std::uint32_t>& ClassHierarchy::overrides(const std::string& class_name,
                                                            std::string_view method,
                                                            std::size_t parameters) const {
  const auto [found, is_new] = overrides_.try_emplace({class_name, std::string(method), parameters});
  std::vector<std::uint32_t>& out = found->second;
  const ClassFacts* base = is_new ? index_.class_facts(class_name) : nullptr;
  if (!base || !base->local) return out;
  if (index_.methods_of_any_class(method).empty()) return out;
  std::set<std::string_view> classes;  // that have such a method
  for (const std::uint32_t each : index_.methods_of_any_class(method)) {
    if (index_.function(each).parameters.size() == parameters)
      classes.insert(index_.function(each).class_name);
  }
  for (const ClassFacts& each : index_.module().classes) {
    if (&each == base || !derives(each.name, class_name)) continue;
    if (!each.local && !classes.contains(each.name)) continue;  // a name that two classes have, mostly
    const auto is_seen = [&](const std::string& key) { return index_.find(key).size() == 1; };
    if (!each.local || !std::all_of(each.virtuals.begin(), each.virtuals.end(), is_seen)) {
      out.clear();
      return out;
    }
    for (const std::string& key : each.virtuals) {
      const std::uint32_t one = index_.find(key).front();
      if (method_name(index_.function(one)) == method && index_.function(one).parameters.size() == parameters)
        out.push_back(one);
    }
  }
  if (out.size() > kMaxOverrides) out.clear();
  return out;
}

const std::vector<std::string>& ClassHierarchy::heirs(std::uint32_t method) const {
  const auto [found, is_new] = heirs_.try_emplace(method);
  const Function& code = index_.function(method);
  if (!is_new || code.kind != FunctionKind::kMethod) return found->second;
  std::optional<std::set<std::uint32_t>> reached;
  // The class by which the index has it, which may be written otherwise than the one that it is of.
  const std::size_t scope = code.name.rfind("::");
  const std::string_view owner = scope == std::string::npos ? std::string_view(code.class_name)
                                                            : std::string_view(code.name).substr(0, scope);
  for (const std::uint32_t heir : known_heirs(owner)) {
    const ClassFacts& each = index_.module().classes[heir];
    if (each.name == code.class_name || !derives(each.name, code.class_name)) continue;
    const std::vector<std::uint32_t> runs =
        inherited(each.name, method_name(code), code.parameters.size(), units_of(code).front());
    if (runs.size() != 1 || runs.front() != method) continue;
    if (!reached) reached = index_.reached_from(method);
    const bool has_part = std::any_of(reached->begin(), reached->end(), [&](std::uint32_t callee) {
      return index_.function(callee).kind == FunctionKind::kMethod &&
             index_.function(callee).class_name == each.name;
    });
    // Or something else to hand to the code that it inherits.
    const bool holds_own =
        !each.settable.empty() && !index_.find(std::string(kAttributesOf) + each.name).empty();
    if ((has_part || holds_own) && found->second.size() < kMaxHeirs) found->second.push_back(each.name);
  }
  return found->second;
}

}  // namespace dtype_guard::flow
