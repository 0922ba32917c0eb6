// Roots: functions some of whose callers may stand outside the analysed code. The precision setting fills
// what the code leaves open there: inputs, autocast, and modules whose conversion is unseen.
#include "analyzer/flow/roots/roots.h"

#include <algorithm>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/held_values.h"
#include "analyzer/flow/roots/handed_arguments.h"
#include "rules/operators/devices.h"
#include "rules/operators/library_names.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
bool takes_object(const Function& function) {
  return function.kind == FunctionKind::kMethod || function.kind == FunctionKind::kConstructor ||
         function.kind == FunctionKind::kDestructor;
}

// What autocast casts to when no dtype is named.
Dtype lower_dtype(const std::string& device) {
  return is_named(Named::kDefaultsToBFloat16, device) ? Dtype::kBFloat16 : Dtype::kFloat16;
}
}  // namespace

// A class that inherits a method and overrides what that calls is looked at like one that has it.
void Roots::evaluate_root(std::uint32_t function, const RankFacts& proved, OtherCode others,
                          const RootCase& how) {
  effects_ = {};
  inputs_.begin_steps();
  root_.how = how;
  origins_.begin_run();
  run_as(index_.function(function).class_name, function, proved, others);
  if (made_half_.takes_notes() || how.object || how.handed.object) return;
  const Speculation run(effects_, kAnotherRun);
  for (const std::string& heir : program_.classes.heirs(function)) {
    try {
      run_as(heir, function, proved, others);
    } catch (const BudgetExceeded&) {
      break;
    }
  }
}

// Sizes and scales stay open: no dtype hangs on which number is the default.
bool Roots::may_be_left_out(const Parameter& parameter) const {
  if (!root_.how.called_by_defaults || !parameter.default_value) return false;
  const bool is_number = parameter.kind == ParameterKind::kNumber && parameter.type != "bool";
  const bool is_known = !std::holds_alternative<Unknown>(*parameter.default_value);
  return is_known && !is_number && parameter.kind != ParameterKind::kDtype;
}

std::optional<State> Roots::evaluate_caller(std::uint32_t function, const RootCase& how) {
  effects_ = {};
  root_.how = how;
  origins_.begin_run();
  return run_as(index_.function(function).class_name, function, {}, OtherCode::kTrusted);
}

std::optional<State> Roots::run_as(const std::string& class_name, std::uint32_t function,
                                   const RankFacts& proved, OtherCode others) {
  const Function& code = index_.function(function);
  root_.unit = units_of(code).front();
  const ContextId own = ids_.context(0, &code);
  const ContextId root =
      class_name == code.class_name ? own : ids_.context(own, index_.class_facts(class_name));
  State state;
  state.ranks = proved;
  state.autocast.dtype = lower_dtype(options_.device);
  if (!code.is_main && program_.default_dtypes.may_differ_for(function))
    state.default_dtype = Dtype::kUndefined;
  ids_.set_in_round(false);
  root_.is_closed = code.is_main;
  ids_.set_several({});
  made_half_.begin_root();
  Speculation run(effects_, kGivenUp);
  std::vector<Value> arguments;
  if (takes_object(code) && code.kind != FunctionKind::kConstructor) {
    arguments.push_back(inputs_.object_of_root(class_name, state));
  } else if (takes_object(code)) {
    HeapObject fresh;
    fresh.type = code.class_name;
    const HeapId id = ids_.object(root, &code, -1);
    state.put(id, std::move(fresh));
    arguments.push_back(Value(Alternative::at(Kind::kObject, id)));
  }
  if (code.kind == FunctionKind::kLambda) arguments.push_back(Value::none());  // it captures nothing
  for (std::size_t i = 0; i < code.parameters.size(); ++i) {
    const Parameter& each = code.parameters[i];
    const HandedObject& handed = root_.how.handed;
    arguments.push_back(
        handed.object && handed.parameter == i ? inputs_.object_handed_over(*handed.object, state)
        : may_be_left_out(each)                ? constant(*each.default_value, effects_)
                                : inputs_.input(each, root, static_cast<int>(i), Nature::kArgument, state));
  }
  if (root_.how.call) hand_over_arguments(*root_.how.call, code, arguments, {ids_, symbols_, root, state});
  const bool looks = others == OtherCode::kLookedAt;
  if (looks) others_.doubt_reassigned(state, arguments, function, root);
  others_.give_what_setters_do(state, arguments, function, root);
  others_.fill_placeholders(state, arguments, function, root);
  if (looks && made_half_.contradicts_autocast(state, arguments)) {
    run.keep();
    return {};
  }
  if (!code.is_main && setting_.autocast != Dtype::kUndefined)
    state.autocast = {true, false, true, setting_.autocast, {}};
  if (code.is_main) {
    for (const std::string_view each : kDevices) {
      const std::string device(each);
      if (device != options_.device)
        state.autocast.elsewhere[device] = {false, true, false, lower_dtype(device), {}};
    }
  }
  const bool makes = code.kind == FunctionKind::kConstructor;
  std::vector<HeapId> handed =
      made_half_.takes_notes() && !makes ? objects_below(state, arguments) : std::vector<HeapId>();
  bool alive = true;
  evaluator_.call(function, arguments, state, root, nullptr, alive);
  if (made_half_.takes_notes() && makes) handed = objects_below(state, arguments);
  if (alive && made_half_.takes_notes()) made_half_.note_halves(state, arguments, handed);
  run.keep();
  return alive ? std::optional(std::move(state)) : std::nullopt;
}

}  // namespace dtype_guard::flow
