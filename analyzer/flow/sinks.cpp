// Calls that have a contract: what arrives is recorded for the rule queries; the result follows the contract.
#include <algorithm>

#include "analyzer/flow/engine.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
}

Value Engine::sink(const Activation& activation, const Instruction& instruction, State& state) {
  const Api* api = options_.contracts ? options_.contracts->find(instruction.name) : nullptr;
  if (!api) return unknown_call(activation, instruction, state);
  SinkRecord record;
  record.api = api;
  record.function = activation.function;
  record.instruction = &instruction;
  record.context = activation.context;
  record.autocast = state.autocast;
  record.tests = tests_before(activation, state);
  for (const Guard& guard : state.guards)
    record.conditions = symbols_.unite(record.conditions, guard.symbols);
  for (std::size_t i = 0; i < instruction.args.size(); ++i) {
    std::string role = instruction.args[i].name;
    if (role.empty()) {
      const auto at = std::find_if(api->operands.begin(), api->operands.end(),
                                   [&](const Operand& each) { return each.argument == static_cast<int>(i); });
      if (at == api->operands.end()) continue;
      role = at->role;
    }
    if (!api->find(role)) continue;
    Alternatives alternatives = tensors(state, argument(state, instruction, i));
    for (Alternative& each : alternatives) {
      const bool is_null = each.kind == Kind::kNumber && each.has_number && each.number == 0;
      if (is_null) each = Alternative::of(Kind::kNone);
      if (each.kind != Kind::kTensor && each.kind != Kind::kNone) each.kind = Kind::kUnknown;
    }
    record.operands.push_back({std::move(role), std::move(alternatives)});
  }

  Value result;
  if (!api->result_like.empty()) {
    for (const SinkOperand& operand : record.operands) {
      if (operand.role != api->result_like) continue;
      for (Alternative each : operand.alternatives) {
        each.origin = 0;
        each.trail = 0;
        const auto behaviour = api->autocast_at(options_.device, torch_version_);
        if (each.kind == Kind::kTensor && state.autocast.may_be_on &&
            behaviour == AutocastBehaviour::kRecasts) {
          each.dtype = state.autocast.dtype;
          each.uncertain = each.uncertain || state.autocast.may_be_off || each.dtype == Dtype::kUndefined;
        }
        result = join(result, Value(each), symbols_);
      }
    }
  }
  records_.insert_or_assign({activation.context, &instruction}, std::move(record));
  return result.is_bottom() ? Value::unknown(symbol(activation.context, &instruction)) : result;
}

}  // namespace dtype_guard::flow
