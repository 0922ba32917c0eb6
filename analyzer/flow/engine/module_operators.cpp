#include "analyzer/flow/engine/module_operators.h"

#include <algorithm>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/ir/module_code.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
const char kSite = 0;  // of objects that are made nowhere in particular

const std::string& name_of(const Activation& activation, const Instruction& instruction) {
  static const std::string none;
  for (const Argument& each : instruction.args) {
    const Instruction* made = each.name == "index" ? activation.info.definition(each.value) : nullptr;
    const auto* text = made ? std::get_if<std::string>(&made->constant) : nullptr;
    if (text) return *text;
  }
  return none;
}

bool is_set_elsewhere(const Program& program, const std::string& class_name, const std::string& field) {
  const std::vector<Parameter>& all = program.fields.settable(class_name);
  return std::any_of(all.begin(), all.end(), [&](const Parameter& each) { return each.name == field; });
}
}  // namespace

std::optional<Value> module_operation(const Activation& activation, const Instruction& instruction,
                                      const Program& program, const RunningRoot& root, Identities& ids,
                                      State& state) {
  const std::string& what = instruction.name;
  if (what.starts_with(kGlobals)) {
    const HeapId id = ids.object(0, &kSite, static_cast<int>(ids.field(what).id));
    if (!state.find(id)) {
      HeapObject fresh;
      fresh.type = what;
      state.put(id, std::move(fresh));
    }
    return Value(Alternative::at(Kind::kObject, id));
  }
  if (what == kGlobalOf) {
    const Alternative* one = argument(state, instruction, 0).single();
    const HeapObject* object = one ? state.find(one->object) : nullptr;
    if (!object) return *named(state, instruction, "otherwise");
    const auto cell = object->cells.find(ids.field(name_of(activation, instruction)));
    return cell == object->cells.end() ? *named(state, instruction, "otherwise") : cell->second;
  }
  if (what == kUnseenContext) {
    // Elsewhere a setting says what autocast does.
    if (root.is_closed) {
      state.autocast = {true, true, false, Dtype::kUndefined, {}};
      state.default_dtype = Dtype::kUndefined;
    }
    return Value::none();
  }
  if (what == kChosenKernels) return Value::none();
  if (what == kOpenDefaultDtype) {
    if (!activation.caller && !root.is_closed) state.default_dtype = Dtype::kUndefined;
    return Value::none();
  }
  if (what == kClassAttribute) {
    const Alternative* one = argument(state, instruction, 0).single();
    const HeapObject* object = one && one->kind == Kind::kObject ? state.find(one->object) : nullptr;
    if (!object) return Value::none();
    const std::string& field = name_of(activation, instruction);
    const Key key = ids.field(field);
    const bool has_own = object->cells.find(key) != object->cells.end();
    if (!has_own && !is_set_elsewhere(program, object->type, field))
      state.change(one->object).cells[key] = *named(state, instruction, "value");
    return Value::none();
  }
  if (what.starts_with(kOfClass)) {
    if (is_set_elsewhere(program, what.substr(kOfClass.size()), name_of(activation, instruction)))
      return Value::unknown();
    return *named(state, instruction, "value");
  }
  return std::nullopt;
}

}  // namespace dtype_guard::flow
