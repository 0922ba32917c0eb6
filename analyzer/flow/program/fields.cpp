#include "analyzer/flow/program/fields.h"

#include <algorithm>
#include <set>

namespace dtype_guard::flow {
namespace {
constexpr std::size_t kMaxSetters = 4;  // of one tensor

void add(std::vector<std::uint32_t>& functions, std::uint32_t id) {
  if (functions.empty() || functions.back() != id) functions.push_back(id);
}
}  // namespace

void Fields::note(std::uint32_t function, ByField& out) const {
  const bool constructs = index_.function(function).kind == FunctionKind::kConstructor;
  for (const FieldAccess& each : index_.effects(function).fields) {
    Uses& uses = out[*each.field];
    uses.is_converted = uses.is_converted || each.is_converted;
    if (!each.may_set()) {
      add(uses.readers, function);
    } else {
      (constructs ? uses.by_constructors : uses.changes).push_back({function, &each});
    }
  }
}

// By what they are fields of; of a method all together, which may be one of several. Elsewhere a constant
// that is stored whatever comes hangs on nothing.
void Fields::note_several(std::uint32_t function, std::uint32_t& count, ByField& out) const {
  const Function& code = index_.function(function);
  if (code.kind == FunctionKind::kConstructor) return;
  const bool method = code.kind == FunctionKind::kMethod;
  std::map<std::pair<VariableId, ValueId>, std::set<std::string_view>> written;
  for (const FieldAccess& each : index_.effects(function).fields) {
    if (!each.may_set() || (!method && each.is_constant && each.is_first)) continue;
    const Place& place = each.at->place;
    written[method ? std::pair(VariableId{}, ValueId{}) : std::pair(place.variable, place.base)].insert(
        *each.field);
  }
  for (const auto& [of, fields] : written) {
    if (fields.size() < 2) continue;
    for (const std::string_view each : fields)
      out[each].several.push_back({count, method ? std::string_view(code.class_name) : std::string_view()});
    ++count;
  }
}

const Fields::ByField& Fields::uses() const {
  if (uses_) return *uses_;
  uses_.emplace();
  std::uint32_t several = 0;
  for (std::uint32_t i = 0; i < index_.module().functions.size(); ++i) {
    note(i, *uses_);
    note_several(i, several, *uses_);
  }
  return *uses_;
}

std::vector<const ClassFacts*> Fields::with_bases(std::string_view class_name) const {
  std::vector<const ClassFacts*> out;
  std::vector<std::string_view> level = {class_name};
  for (int depth = 0; depth < kMaxBases && !level.empty(); ++depth) {
    std::vector<std::string_view> above;
    for (const std::string_view each : level) {
      const ClassFacts* facts = index_.class_facts(each);
      if (!facts) continue;
      above.insert(above.end(), facts->bases.begin(), facts->bases.end());
      out.push_back(facts);
    }
    level = std::move(above);
  }
  return out;
}

bool Fields::has_unseen_setter(const ClassFacts& facts) const {
  return std::any_of(facts.setters.begin(), facts.setters.end(),
                     [&](const std::string& setter) { return index_.find(setter).empty(); });
}

// Whether it may be of an object of that class that the field is another's: of which class it is a function
// may not know, but a constant is no tensor. Code that takes the address of another object's field mostly
// reads it.
bool Fields::may_be_set_by(const Change& change, std::string_view class_name) const {
  const FieldAccess& access = *change.access;
  const bool reads = access.kind == FieldAccess::Kind::kAddress && !access.is_written;
  return !reads && !access.is_constant && (!access.owner || are_related(*access.owner, class_name));
}

const std::vector<Fields::Reassigned>& Fields::reassigned(const std::string& class_name,
                                                          std::string_view field) const {
  static const std::vector<Reassigned> kNone;
  const auto used = uses().find(field);
  if (used == uses().end() || used->second.changes.empty() || !index_.class_facts(class_name)) return kNone;
  const auto [found, is_new] = reassigned_[class_name].try_emplace(used->first);
  if (!is_new) return found->second;
  std::set<std::uint32_t> seen;
  for (const Change& each : used->second.changes) {
    const auto& [function, access] = each;
    const bool own = access->in_this;
    if (own ? !are_related(class_name, index_.function(function).class_name)
            : !may_be_set_by(each, class_name))
      continue;
    if (!seen.insert(function).second) continue;
    const bool followed = !access->is_handed_out;
    found->second.push_back({followed ? std::optional(function) : std::nullopt, own && followed});
  }
  return found->second;
}

// One whose address is taken may be of any dtype.
std::optional<Fields::SetLater> Fields::set_later_of(const ClassFacts& facts,
                                                     const std::string& field) const {
  const auto found = uses().find(field);
  if (found == uses().end() || found->second.is_converted) return std::nullopt;
  const Uses& all = found->second;
  const auto elsewhere = [](const Change& each) {
    return !each.access->of_this || each.access->kind == FieldAccess::Kind::kAddress;
  };
  if (std::any_of(all.changes.begin(), all.changes.end(), elsewhere) ||
      std::any_of(all.by_constructors.begin(), all.by_constructors.end(), elsewhere))
    return std::nullopt;
  const auto owner = [&](const Change& each) -> const std::string& {
    return index_.function(each.function).class_name;
  };
  // By a class that derives from this one, so that it need not be set.
  const bool constructed = std::any_of(
      all.by_constructors.begin(), all.by_constructors.end(),
      [&](const Change& each) { return owner(each) != facts.name && are_related(owner(each), facts.name); });
  SetLater out{field, {}, all.readers};
  for (const Change& each : all.changes) {
    if (are_related(owner(each), facts.name)) add(out.setters, each.function);
  }
  if (constructed || out.setters.empty() || out.setters.size() > kMaxSetters) return std::nullopt;
  return out;
}

const std::vector<Fields::SetLater>& Fields::set_later(const std::string& class_name) const {
  const auto [found, is_new] = set_later_.try_emplace(class_name);
  if (!is_new) return found->second;
  for (const ClassFacts* facts : with_bases(class_name)) {
    if (facts->owned.empty() || has_unseen_setter(*facts)) continue;
    for (const std::string& field : facts->owned) {
      if (std::optional<SetLater> one = set_later_of(*facts, field)) found->second.push_back(*std::move(one));
    }
  }
  return found->second;
}

const std::set<std::string>& Fields::placeholders(const std::string& class_name) const {
  const auto [found, is_new] = placeholders_.try_emplace(class_name);
  if (!is_new) return found->second;
  for (const ClassFacts* facts : with_bases(class_name))
    found->second.insert(facts->placeholders.begin(), facts->placeholders.end());
  return found->second;
}

bool Fields::is_set_by_others(const ClassFacts& facts, const Parameter& field) const {
  const auto found = uses().find(field.name);
  return found != uses().end() &&
         std::any_of(found->second.changes.begin(), found->second.changes.end(), [&](const Change& each) {
           const std::string& owner = index_.function(each.function).class_name;
           return !each.access->of_this || owner.empty() || are_related(owner, facts.name);
         });
}

const std::vector<Parameter>& Fields::settable(const std::string& class_name) const {
  const auto [known, is_new] = settable_.try_emplace(class_name);
  if (!is_new) return known->second;
  for (const ClassFacts* facts : with_bases(class_name)) {
    const bool unseen = has_unseen_setter(*facts);
    for (const Parameter& field : facts->settable) {
      if (field.by_reference || unseen || is_set_by_others(*facts, field)) known->second.push_back(field);
    }
  }
  return known->second;
}

const std::vector<std::uint32_t>& Fields::written_by(const std::string& class_name,
                                                     const std::string& field) const {
  const auto [known, is_new] = written_by_.try_emplace({class_name, field});
  const auto found = is_new ? uses().find(field) : uses().end();
  if (found == uses().end()) return known->second;
  for (const WritesSeveral& each : found->second.several) {
    if (class_name.empty() || each.class_name.empty() || are_related(class_name, each.class_name))
      known->second.push_back(each.number);
  }
  return known->second;
}

}  // namespace dtype_guard::flow
