#include "analyzer/flow/queries/checked_operands.h"

#include <algorithm>
#include <set>

#include "analyzer/flow/operators/contractions.h"
#include "analyzer/flow/queries/lineage.h"

namespace dtype_guard::flow {
namespace {

template <typename Wanted>
bool has(const Function& function, const Wanted& wanted) {
  return std::any_of(function.blocks.begin(), function.blocks.end(), [&](const Block& block) {
    return std::any_of(block.instructions.begin(), block.instructions.end(), wanted);
  });
}

const Operator* operator_of(const Instruction& each) {
  return each.op == Op::kOperator ? find_operator(each.name) : nullptr;
}

}  // namespace

// In the function that checks, those that it calls, and those that call it.
bool concerns_attention(const SinkRecord& check, const Program& program) {
  const FunctionIndex& index = program.functions;
  std::set<std::uint32_t> near = index.reached_from(check.function);
  const std::vector<std::uint32_t>& callers = program.callers.of(check.function);
  near.insert(callers.begin(), callers.end());
  const Lineage lineage(index);
  return std::any_of(near.begin(), near.end(), [&](std::uint32_t id) {
    const Function& function = index.function(id);
    const bool has_softmax = has(function, [](const Instruction& each) {
      const Operator* op = operator_of(each);
      return op && is_softmax(op->name);
    });
    return has(function, [&](const Instruction& each) {
      const Operator* op = has_softmax ? operator_of(each) : nullptr;
      const bool watched = each.op == Op::kSink || (op && is_contraction(op->name));
      return watched &&
             std::any_of(check.operands.begin(), check.operands.end(), [&](const SinkOperand& operand) {
               return lineage.derives(id, each, check.function, operand.value);
             });
    });
  });
}

}  // namespace dtype_guard::flow
