// The program without the ways that no run takes. Of a condition that the engine does not decide, and that
// all runs decide alike, both arms are analysed: what is found in the other one is found in dead code.
#include "tests/oracle/properties.h"

namespace dtype_guard::oracle {
namespace {
void drop_arms(flow::Instruction& each, const Passed& passed) {
  if (each.op == flow::Op::kBranch) {
    const bool first = Passed::has(passed.arms[0], each), second = Passed::has(passed.arms[1], each);
    if (first == second) return;
    each.op = flow::Op::kJump;
    each.args.clear();
    each.targets = {each.targets[first ? 0 : 1]};
  }
  const auto taken = passed.phis.find(each.range.line);
  if (each.op != flow::Op::kPhi || taken == passed.phis.end()) return;
  std::vector<flow::Argument> left;
  for (std::size_t i = 0; i < each.args.size(); ++i) {
    if (taken->second >> i & 1U) left.push_back(each.args[i]);
  }
  each.args = std::move(left);
}
}  // namespace

Module without_dead_arms(Module module, const Passed& passed) {
  for (flow::Function& function : module.functions) {
    for (flow::Block& block : function.blocks) {
      for (flow::Instruction& each : block.instructions) drop_arms(each, passed);
    }
  }
  return module;
}

}  // namespace dtype_guard::oracle
