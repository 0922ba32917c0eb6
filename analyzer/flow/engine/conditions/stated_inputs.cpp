// What the code states wins over the precision setting: a check that a setting would make fail on every call
// says what its input is. The lengths that attention takes are int32 in a half model too, and a table that is
// checked to be float32 is. Only an input itself, as the setting made it, is told so; what was computed from
// inputs stays what it is.
#include <algorithm>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/conditions/conditions.h"
#include "analyzer/flow/engine/held_values.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
constexpr int kMaxWalk = 32;
}  // namespace

void Conditions::keep_text(const Activation& activation, State& state, ValueId condition, bool wanted,
                           int depth) {
  const Instruction* definition = activation.info.definition(condition);
  if (!definition || definition->op != Op::kOperator || depth > kMaxWalk) return;
  const std::string& name = definition->name;
  const bool all = (name == "logical_and" && wanted) || (name == "logical_or" && !wanted);
  if (name == "logical_not" || all) {
    for (const Argument& each : definition->args)
      keep_text(activation, state, each.value, (name == "logical_not") != wanted, depth + 1);
  }
  if ((name != "eq" && name != "ne") || (name == "eq") != wanted || definition->args.size() != 2) return;
  for (const std::size_t side : {0U, 1U}) {
    const Value told = argument(state, *definition, side);
    const Value asked = argument(state, *definition, 1 - side);
    const bool is_text = told.single() && told.single()->kind == Kind::kString && told.single()->has_number;
    const bool is_open = asked.single() && asked.single()->kind == Kind::kUnknown && asked.single()->symbols;
    if (is_text && is_open) (void)narrow(state, asked, told);
  }
}

bool Conditions::state_by_check(const Activation& activation, State& state, ValueId condition, bool wanted,
                                int depth) {
  const Value known = value(state, condition);
  if (truth(known) == wanted) return true;
  const Instruction* definition = activation.info.definition(condition);
  if (!definition || depth > kMaxWalk) return false;
  if (definition->op == Op::kLoad || definition->op == Op::kCopy || definition->op == Op::kPhi) {
    const Alternative* one = known.single();
    const bool computed_here = one && one->source && one->context == activation.context;
    return computed_here && one->source != condition &&
           state_by_check(activation, state, one->source, wanted, depth + 1);
  }
  if (definition->op != Op::kOperator || definition->args.empty()) return false;
  const std::string& name = definition->name;
  const auto part = [&](State& at, const Argument& each, bool truth_of_it) {
    if (!truth(value(at, each.value)) && refine(activation, at, each.value, truth_of_it)) return true;
    return state_by_check(activation, at, each.value, truth_of_it, depth + 1);
  };
  if (name == "logical_not") return part(state, definition->args[0], !wanted);
  if (name == "logical_and" || name == "logical_or") {
    const auto has_it = [&](State& at, const Argument& each) { return part(at, each, wanted); };
    const bool all = (name == "logical_and") == wanted;
    return all ? std::all_of(definition->args.begin(), definition->args.end(),
                             [&](const Argument& each) { return has_it(state, each); })
               : state_one_of(state, definition->args, has_it);
  }
  if ((name != "eq" && name != "ne") || (name == "eq") != wanted || definition->args.size() != 2)
    return false;
  return state_input(activation, state, definition->args[0].value, definition->args[1].value) ||
         state_input(activation, state, definition->args[1].value, definition->args[0].value);
}

// Of a disjunction, the first part that can be true is taken to be. Where another can be as well, what the
// first states is in doubt, and that the other states float32 lets other inputs be that too.
bool Conditions::state_one_of(State& state, const std::vector<Argument>& parts, const StatePart& state_part) {
  const State before = state;
  std::size_t possible = 0;
  std::vector<Value> stated;
  for (const Argument& each : parts) {
    State with = before;
    const std::size_t known = effects_.inputs().size();
    if (!state_part(with, each)) continue;
    const bool is_guessed = with.other_inputs_are_guessed || (possible && state.other_inputs_are_guessed);
    if (++possible == 1) {
      state = std::move(with);
      stated.assign(effects_.inputs().begin() + static_cast<std::ptrdiff_t>(known), effects_.inputs().end());
    }
    state.other_inputs_are_guessed = is_guessed;
  }
  if (possible > 1) {
    for (const Value& each : stated) replace_everywhere(state, each, effects_.as_input(weakened(each)));
  }
  return possible > 0;
}

// That the input whose dtype is `asked` has the dtype `told`.
bool Conditions::state_input(const Activation& activation, State& state, ValueId asked, ValueId told) {
  const Value before = value(state, asked);
  const Alternative* mine = before.single();
  const Alternative* other = value(state, told).single();
  const auto names_dtype = [](const Alternative* each) {
    return each && each->kind == Kind::kDtype && each->dtype != Dtype::kUndefined;
  };
  if (!names_dtype(mine) || !mine->assumed || !is_half(mine->dtype)) return false;
  if (!names_dtype(other) || other->assumed || is_half(other->dtype)) return false;
  if (!mine->source || mine->context != activation.context) return false;
  const Value input = value(state, mine->source);
  if (!effects_.is_input(input)) return false;
  const Dtype dtype = other->dtype;
  const auto stated = [&](const Value& from) {
    std::vector<Alternative> all = from.alternatives();
    for (Alternative& each : all) {
      each.dtype = dtype;
      each.assumed = false;
    }
    return Value(std::move(all));
  };
  const Value after = effects_.as_input(stated(input));
  if (is_floating(dtype)) {
    state.other_inputs_are_guessed = true;
    const Instruction* question = activation.info.definition(asked);
    effects_.sinks().note_guessed(activation.context, question, state.guards, is_repeated(activation));
  }
  return replace_everywhere(state, input, after) && replace_everywhere(state, before, stated(before));
}

}  // namespace dtype_guard::flow
