// An operator: by its name, by what it is called on, or by the table.
#include <algorithm>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/held_values.h"
#include "analyzer/flow/engine/interpreter/engine.h"
#include "analyzer/flow/engine/module_operators.h"
#include "analyzer/flow/operators/forms.h"
#include "analyzer/flow/operators/operator_rank.h"
#include "analyzer/flow/operators/stores.h"
#include "rules/operators/library_names.h"

namespace dtype_guard::flow {
namespace {
// Which of several it is hangs on what is not known.
Value uncertain(const Value& value) {
  std::vector<Alternative> all = value.alternatives();
  for (Alternative& each : all) each.uncertain = true;
  return Value(std::move(all));
}

// In place it gives the tensor that it is called on other dimensions, as out= does.
bool changes_rank(const Operator& op) {
  return op.name.ends_with(name_of(Named::kWritesToOut)) ||
         (op.rank != RankRule::kLikeFirst && op.rank != RankRule::kBroadcast);
}

// Of several tensors those are behind it that can hold what it writes: integers do not become floating ones.
void pass_in_place(Operators& operators, Conditions& conditions, const Activation& activation,
                   const Instruction& instruction, const Operator& op, State& state) {
  const Operands given = operators.operands(instruction, op, state);
  const bool are_several = std::any_of(given.inputs.begin(), given.inputs.end(),
                                       [](const Input& input) { return input.alternatives.size() > 1; });
  if (!are_several) return;
  std::vector<Refused> refused;
  (void)operators.apply_at({}, activation, instruction, op, given, state, &refused);
  conditions.pass_without(activation, state, refused);
}
}  // namespace

Value Engine::operation(const Activation& activation, const Instruction& instruction, State& state) {
  if (instruction.name == "pointer_cast") return marks_.typed_pointer(activation, instruction, state);
  if (instruction.name == "copy_of") return objects_.copy_of(activation, instruction, state);
  if (instruction.name == "deep_copy_of") return objects_.deep_copy_of(activation, instruction, state);
  if (instruction.name == "take_layers") {
    registrations_.take_layers(instruction, state);
    return Value::none();
  }
  if (instruction.name == "assign_object") {
    objects_.overwrite_object(instruction, state);
    return argument(state, instruction, 0);
  }
  if (auto dynamic = dynamic_.dynamic_operation(activation, instruction, state)) return *dynamic;
  if (auto given = module_operation(activation, instruction, subject_.program, root_, ids_, state))
    return *given;
  if (auto scalar = scalars_.scalar_operation(activation, instruction, state)) return *scalar;
  if (qualified_name(instruction.name) == name_of(Named::kForward)) {
    if (auto given = modules_.library_forward(activation, instruction, state)) return *given;
  }
  if (lists_parts(instruction.name)) return conversions_.listed_parts(activation, instruction, state);
  const Operator* op = operator_of(instruction, activation.info);
  if (!op) return escapes_.unknown_call(activation, instruction, state);
  ranks_.prove_ranks(activation, *op, instruction, state);
  if (op->in_place) {  // its own dtype stays
    if (store_contract(*op)) {
      sinks_.record_operator(activation, instruction, *op,
                             operators_.operands(instruction, *op, state).inputs, activation.context, state);
      const Value target = shared_contents(state, argument(state, instruction, 0));
      replace_everywhere(state, target,
                         sinks_.marked(activation, instruction, *op, {}, activation.context, target));
    } else if (!op->out_calls_operator) {
      pass_in_place(operators_, conditions_, activation, instruction, *op, state);
    }
    if (changes_rank(*op)) {
      // What the operands have together is what out= has then.
      const bool together = op->rank == RankRule::kBroadcast;
      Rank now =
          together ? OperatorRank(*op, instruction, ranks_.rank_inputs(instruction, state)).result() : Rank{};
      if (rounds_.is_of_rounds(now.symbol)) now = {false, now.min, now.max};  // it may be kept anywhere
      registrations_.set_rank(state, argument(state, instruction, 0), now);
    }
    return argument(state, instruction, 0);
  }
  if (op->result == ResultRule::kDescriptor) return marks_.typed_pointer(activation, instruction, state);

  Operands given = operators_.operands(instruction, *op, state);
  sinks_.record_operator(activation, instruction, *op, given.inputs, activation.context, state);
  std::vector<GivenTensors> tensors_given;
  for (const Input& input : given.inputs) tensors_given.push_back({input.argument, &input.alternatives});
  const std::vector<const Operator*> forms = forms_of_tensors(*op, tensors_given);
  Value element;
  std::vector<Refused> refused;
  for (const Operator* form : forms) {
    const Value one = operators_.apply(activation, instruction, *form, given, state, &refused);
    element = element.is_bottom() ? one : join(element, one, symbols_);
  }
  if (forms.size() > 1 && element.size() > 1) element = uncertain(element);
  if (forms.size() == 1) conditions_.pass_without(activation, state, refused);
  if (op->list_result) return operators_.wrap_list(activation, instruction, element, state);
  return sinks_.marked(activation, instruction, *op, given.inputs, activation.context, element);
}

}  // namespace dtype_guard::flow
