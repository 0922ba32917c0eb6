#include "analyzer/flow/program/field_uses.h"

#include <algorithm>
#include <set>

namespace dtype_guard::flow {
namespace {
constexpr std::size_t kMaxSetters = 4;  // of one tensor

void add(std::vector<std::uint32_t>& functions, std::uint32_t id) {
  if (functions.empty() || functions.back() != id) functions.push_back(id);
}
}  // namespace

// A tensor whose dtype is changed where it is, as that of a registered one may be, and one whose address
// is taken, may be of any.
void FieldUses::note_uses(std::uint32_t id) const {
  const Function& code = index_.function(id);
  const bool of_object = code.kind == FunctionKind::kMethod || code.kind == FunctionKind::kConstructor;
  std::set<ValueId> own;
  std::map<ValueId, const std::string*> loaded;
  for (const Block& block : code.blocks) {
    for (const Instruction& each : block.instructions) {
      const auto* index = each.op == Op::kParam ? std::get_if<std::int64_t>(&each.constant) : nullptr;
      if (of_object && index && *index == 0) own.insert(each.result);
      if (each.op == Op::kRetype || each.op == Op::kRegister) {
        for (const Argument& one : each.args) {
          const auto from = loaded.find(one.value);
          if (from != loaded.end()) (*uses_)[*from->second].elsewhere = true;
        }
      }
      if (each.op != Op::kStore && each.op != Op::kAddress && each.op != Op::kLoad) continue;
      const std::string* name = each.place.last_field();
      if (!name) continue;
      FieldUse& use = (*uses_)[*name];
      const bool of_this = each.place.path.size() == 1 && own.contains(each.place.base);
      if (each.op == Op::kLoad) {
        loaded[each.result] = name;
        add(use.readers, id);
      } else if (!of_this || each.op == Op::kAddress) {
        use.elsewhere = true;
      } else {
        add(use.setters, id);
      }
    }
  }
}

const std::vector<FieldUses::SetLater>& FieldUses::set_later(const std::string& class_name) const {
  const auto [found, is_new] = set_later_.try_emplace(class_name);
  if (!is_new) return found->second;
  std::vector<std::string_view> level = {class_name};
  for (int depth = 0; depth < kMaxBases && !level.empty(); ++depth) {
    std::vector<std::string_view> above;
    for (const std::string_view each : level) {
      const ClassFacts* facts = index_.class_facts(each);
      if (!facts) continue;
      above.insert(above.end(), facts->bases.begin(), facts->bases.end());
      if (facts->owned.empty()) continue;
      if (!uses_) {
        uses_.emplace();
        for (std::uint32_t i = 0; i < index_.module().functions.size(); ++i) note_uses(i);
      }
      const bool unseen = std::any_of(facts->setters.begin(), facts->setters.end(),
                                      [&](const std::string& setter) { return index_.find(setter).empty(); });
      for (const std::string& field : facts->owned) {
        const auto use = uses_->find(field);
        if (unseen || use == uses_->end() || use->second.elsewhere) continue;
        SetLater out{field, {}, use->second.readers};
        bool constructed = false;  // by a class that derives from this one, so that it need not be set
        for (const std::uint32_t setter : use->second.setters) {
          const std::string& by = index_.function(setter).class_name;
          const bool constructor = index_.function(setter).kind == FunctionKind::kConstructor;
          if (!classes_.derives(by, each) && !classes_.derives(each, by)) continue;
          constructed = constructed || (constructor && by != each);
          if (!constructor) out.setters.push_back(setter);
        }
        if (!constructed && !out.setters.empty() && out.setters.size() <= kMaxSetters)
          found->second.push_back(std::move(out));
      }
    }
    level = std::move(above);
  }
  return found->second;
}

}  // namespace dtype_guard::flow
