#include "analyzer/flow/program/field_writes.h"

#include <algorithm>

namespace dtype_guard::flow {

void FieldWrites::note_writes(const Function& function) const {
  const bool method = function.kind == FunctionKind::kMethod;
  std::set<ValueId> own, constants;
  // By what they are fields of; of a method all together.
  std::map<std::pair<VariableId, ValueId>, std::set<std::string>> written;
  for (const Block& block : function.blocks) {
    for (const Instruction& each : block.instructions) {
      const auto* index = each.op == Op::kParam ? std::get_if<std::int64_t>(&each.constant) : nullptr;
      if (method && index && *index == 0) own.insert(each.result);
      if (each.op == Op::kConst) constants.insert(each.result);
      if (each.op != Op::kStore && each.op != Op::kAddress) continue;
      const std::string* field = each.place.last_field();
      const bool of_this = each.place.path.size() == 1 && own.contains(each.place.base);
      if (field) writers_[*field].insert(of_this ? function.class_name : std::string());
      if (!field) continue;
      // A constant that is stored whatever comes hangs on nothing; a method may be one of several.
      const bool is_first = &block == &function.blocks.front();
      const bool is_constant = is_first && !each.args.empty() && constants.contains(each.args[0].value);
      if (method) {
        written[{}].insert(*field);
      } else if (!is_constant) {
        written[{each.place.variable, each.place.base}].insert(*field);
      }
    }
  }
  for (const auto& [of, fields] : written) {
    if (fields.size() < 2) continue;
    const std::string& owner = method ? function.class_name : std::string();
    for (const std::string& each : fields) write_several_[each].push_back({count_of_writes_, owner});
    ++count_of_writes_;
  }
}

void FieldWrites::note_all_writes() const {
  if (writers_are_noted_) return;
  for (const Function& each : index_.module().functions) {
    if (each.kind != FunctionKind::kConstructor) note_writes(each);
  }
  writers_are_noted_ = true;
}

const std::vector<std::uint32_t>& FieldWrites::written_by(const std::string& class_name,
                                                          const std::string& field) const {
  note_all_writes();
  const auto [known, is_new] = written_by_.try_emplace({class_name, field});
  if (!is_new) return known->second;
  for (const WritesSeveral& each : write_several_[field]) {
    const bool related = class_name.empty() || each.class_name.empty() ||
                         classes_.derives(class_name, each.class_name) ||
                         classes_.derives(each.class_name, class_name);
    if (related) known->second.push_back(each.number);
  }
  return known->second;
}

const std::vector<Parameter>& FieldWrites::settable(const std::string& class_name) const {
  const auto [known, is_new] = settable_.try_emplace(class_name);
  if (is_new) known->second = find_settable(class_name);
  return known->second;
}

std::vector<Parameter> FieldWrites::find_settable(std::string_view class_name) const {
  note_all_writes();
  std::vector<Parameter> out;
  std::vector<std::string_view> level = {class_name};
  for (int depth = 0; depth < kMaxBases && !level.empty(); ++depth) {
    std::vector<std::string_view> above;
    for (const std::string_view each : level) {
      const ClassFacts* facts = index_.class_facts(each);
      if (!facts) continue;
      above.insert(above.end(), facts->bases.begin(), facts->bases.end());
      const bool unseen = std::any_of(facts->setters.begin(), facts->setters.end(),
                                      [&](const std::string& setter) { return index_.find(setter).empty(); });
      for (const Parameter& field : facts->settable) {
        const auto writers = writers_.find(field.name);
        const bool written =
            writers != writers_.end() &&
            std::any_of(writers->second.begin(), writers->second.end(), [&](const std::string& writer) {
              return writer.empty() || classes_.derives(writer, each) || classes_.derives(each, writer);
            });
        if (field.by_reference || unseen || written) out.push_back(field);
      }
    }
    level = std::move(above);
  }
  return out;
}

}  // namespace dtype_guard::flow
