#include "analyzer/flow/engine/passed_tests.h"

#include <algorithm>

#include "analyzer/flow/engine/arguments.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;

bool reaches(const Function& function, BlockId from, BlockId to, BlockId without) {
  std::vector<bool> seen(function.blocks.size());
  std::vector<BlockId> work = {from};
  while (!work.empty()) {
    const BlockId block = work.back();
    work.pop_back();
    if (block >= seen.size() || block == without || seen[block]) continue;
    if (block == to) return true;
    seen[block] = true;
    const auto& instructions = function.blocks[block].instructions;
    if (instructions.empty()) continue;
    work.insert(work.end(), instructions.back().targets.begin(), instructions.back().targets.end());
  }
  return false;
}
}  // namespace

void note_tests(const Activation& activation, State& state, ValueId condition, bool wanted, PassedTest test,
                int depth) {
  const Instruction* definition = activation.info.definition(condition);
  constexpr int kMaxWalk = 16;
  if (!definition || depth > kMaxWalk) return;
  const auto again = [&](ValueId id, bool truth) {
    note_tests(activation, state, id, truth, test, depth + 1);
  };
  if (definition->op == Op::kLoad || definition->op == Op::kCopy) {
    const Alternative* one = value(state, condition).single();
    if (one && one->source && one->context == activation.context && one->source != condition) {
      again(one->source, wanted);
    }
    return;
  }
  if (definition->op != Op::kOperator || definition->args.empty()) return;
  const std::string& name = definition->name;
  if (name == "logical_not") return again(definition->args[0].value, !wanted);
  if ((name == "logical_and" && wanted) || (name == "logical_or" && !wanted)) {
    for (const Argument& each : definition->args) again(each.value, wanted);
  } else if (name == "logical_or" || name == "logical_and") {
    // x is half or x is bfloat16: one test of x when every part asks the same tensor.
    State parts;
    parts.values = state.values;
    for (const Argument& each : definition->args) {
      const std::size_t before = parts.tests.size();
      note_tests(activation, parts, each.value, wanted, test, depth + 1);
      if (parts.tests.size() != before + 1) return;
    }
    const Value& asked = value(state, parts.tests.begin()->tested);
    DtypeSet all;
    for (const PassedTest& each : parts.tests) {
      if (!value(state, each.tested).same(asked)) return;
      all = DtypeSet::from_bits(all.bits() | each.passes.bits());
    }
    test.tested = parts.tests.begin()->tested;
    test.passes = all;
    state.tests.add(test);
  } else if ((name == "eq" || name == "ne") && definition->args.size() == 2) {
    for (const std::size_t side : {0U, 1U}) {
      const Alternative* asked = value(state, definition->args[side].value).single();
      const Alternative* named_one = value(state, definition->args[1 - side].value).single();
      const bool fits = asked && named_one && asked->kind == Kind::kDtype && asked->source &&
                        asked->context == activation.context && named_one->kind == Kind::kDtype &&
                        !named_one->source && named_one->dtype != Dtype::kUndefined;
      if (!fits) continue;
      test.tested = asked->source;
      const DtypeSet one = {named_one->dtype};
      test.passes = (name == "eq") == wanted ? one : DtypeSet::from_bits(~one.bits());
      state.tests.add(test);
      return;
    }
  }
}

// Of a branch, only one that decides whether this point is reached at all.
std::vector<PassedTest> tests_before(const Activation& activation, const State& state) {
  std::vector<PassedTest> out;
  for (const PassedTest& each : state.tests) {
    const bool is_branch = each.test->op == Op::kBranch;
    bool decides = !is_branch;
    for (const Activation* at = &activation; is_branch && at; at = at->caller) {
      if (at->context != each.context) continue;
      decides = !reaches(at->code, each.otherwise, at->block, each.block);
      break;
    }
    if (decides) out.push_back(each);
  }
  return out;
}

}  // namespace dtype_guard::flow
