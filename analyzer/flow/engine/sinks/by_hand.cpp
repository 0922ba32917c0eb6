// What leaves a root that rotates by hand, and checks of two tensors' dtypes that certainly fail: recorded
// like calls that have a contract.
#include "analyzer/flow/operators/by_hand.h"

#include <algorithm>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/sinks/sinks.h"
#include "analyzer/flow/operators/contractions.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
constexpr int kMaxWalk = 8;

bool is_turned_tensor(const std::vector<Alternative>& all) {
  return !all.empty() && std::all_of(all.begin(), all.end(), [](const Alternative& each) {
    return each.kind == Kind::kTensor && is_turned(each.lineage);
  });
}

bool is_half_tensor(const std::vector<Alternative>& all) {
  return !all.empty() && std::all_of(all.begin(), all.end(), [](const Alternative& each) {
    return each.kind == Kind::kTensor && is_half(each.dtype) && !is_turned(each.lineage);
  });
}

SinkOperand operand(std::string_view role, std::vector<Alternative> alternatives, ValueId value = 0) {
  for (Alternative& each : alternatives) {
    if (each.kind != Kind::kTensor && each.kind != Kind::kNone) each.kind = Kind::kUnknown;
  }
  return {std::string(role), std::move(alternatives), value};
}
}  // namespace

// The callers of a root are not seen: what it gives back goes to attention beside values of the old dtype.
void Sinks::record_leaving(const Activation& activation, const Instruction& instruction, const Value& result,
                           State& state) {
  std::vector<Value> turned;
  for (const Value& each : memory_.elements(state, result)) {
    if (is_turned_tensor(memory_.tensors(state, each))) turned.push_back(each);
  }
  record_rotation(SinkPlace::kLeaving, activation, instruction, turned, state);
}

// Unseen code that is handed two rotated tensors beside one that is half is attention.
void Sinks::record_handed_on(const Activation& activation, const Instruction& instruction, State& state) {
  std::vector<Value> turned;
  bool beside_half = false;
  for (std::size_t i = 0; i < instruction.args.size(); ++i) {
    const Value& given = argument(state, instruction, i);
    const std::vector<Alternative> all = memory_.tensors(state, given);
    if (is_turned_tensor(all)) turned.push_back(given);
    beside_half = beside_half || is_half_tensor(all);
  }
  if (turned.size() == 2 && beside_half)
    record_rotation(SinkPlace::kHandedOn, activation, instruction, turned, state);
}

void Sinks::record_rotation(SinkPlace place, const Activation& activation, const Instruction& instruction,
                            const std::vector<Value>& turned, State& state) {
  const Api& api = rotation_by_hand();
  effects_.sinks().forget(activation.context, instruction);
  if (is_contradicted(state)) return;
  SinkRecord record = record_of(api, activation, instruction, state);
  record.place = place;
  const Alternative* widened = nullptr;
  for (const Value& each : turned) {
    if (record.operands.size() + 1 < api.operands.size())
      record.operands.push_back(
          operand(api.operands[record.operands.size() + 1].role, memory_.tensors(state, each)));
  }
  for (const SinkOperand& each : record.operands) {
    for (const Alternative& one : each.alternatives) {
      const Origin* origin = origins_.find(one.origin);
      const bool promoted = origin && origin->kind == Origin::Kind::kPromotion && origin->widens_half();
      if (promoted && !widened) widened = &one;
    }
  }
  if (!widened) return;
  Alternative x = Alternative::tensor(origins_.find(widened->origin)->before, {});
  x.assumed = widened->assumed;
  record.operands.insert(record.operands.begin(), operand(api.operands.front().role, {x}));
  effects_.sinks().add(std::move(record));
}

// Of a condition that is known to fail the comparison that makes it fail.
void Sinks::record_check(const Activation& activation, const Instruction& check, ValueId fact, bool wanted,
                         bool fails, State& state) {
  effects_.sinks().forget(activation.context, check);
  if (!fails || is_contradicted(state)) return;
  for (int i = 0; i < kMaxWalk; ++i) {
    const Instruction* made = activation.info.definition(fact);
    if (!made || made->op != Op::kOperator || made->args.empty()) return;
    if (made->name == "logical_not") {
      wanted = !wanted;
      fact = made->args[0].value;
      continue;
    }
    if (made->name == (wanted ? "logical_and" : "logical_or")) {
      const auto fault = std::find_if(made->args.begin(), made->args.end(), [&](const Argument& each) {
        return truth(value(state, each.value)) == !wanted;
      });
      if (fault == made->args.end()) return;
      fact = fault->value;
      continue;
    }
    if (made->name != (wanted ? "eq" : "ne") || made->args.size() != 2) return;
    SinkRecord record = record_of(dtype_check(), activation, check, state);
    record.place = SinkPlace::kCheck;
    for (const Operand& side : record.api->operands) {
      const Value& dtype = argument(state, *made, record.operands.size());
      const Alternative* first = dtype.is_bottom() ? nullptr : dtype.begin();
      const bool asked =
          first && first->kind == Kind::kDtype && first->source && first->context == activation.context;
      if (!asked) return;
      record.operands.push_back(
          operand(side.role, memory_.tensors(state, value(state, first->source)), first->source));
    }
    effects_.sinks().add(std::move(record));
    return;
  }
}

}  // namespace dtype_guard::flow
