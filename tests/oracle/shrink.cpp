#include "tests/oracle/shrink.h"

#include <algorithm>
#include <set>
#include <utility>

namespace dtype_guard::oracle {
namespace {
using flow::BlockId;
using flow::Function;
using flow::Instruction;
using flow::Module;
using flow::Op;

// Every smaller program that one step leads to is offered to `take`, which keeps it or not.
using Take = std::function<bool(Module)>;

Instruction& at(Module& module, std::size_t function, std::size_t block, std::size_t instruction) {
  return module.functions[function].blocks[block].instructions[instruction];
}

bool straighten(const Module& module, std::size_t f, std::size_t b, std::size_t i, const Take& take) {
  const Instruction& branch = module.functions[f].blocks[b].instructions[i];
  for (const BlockId target : branch.targets) {
    Module smaller = module;
    Instruction& jump = at(smaller, f, b, i);
    jump.op = Op::kJump;
    jump.args.clear();
    jump.targets = {target};
    if (take(std::move(smaller))) return true;
  }
  return false;
}

bool leave_out(const Module& module, std::size_t f, std::size_t b, std::size_t i, const Take& take) {
  const Instruction& each = module.functions[f].blocks[b].instructions[i];
  Module smaller = module;
  auto& all = smaller.functions[f].blocks[b].instructions;
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
  if (take(std::move(smaller))) return true;
  if (!each.result) return false;
  for (const flow::Argument& instead : each.args) {
    smaller = module;
    for (flow::Block& block : smaller.functions[f].blocks) {
      for (Instruction& user : block.instructions) {
        for (flow::Argument& one : user.args)
          one.value = one.value == each.result ? instead.value : one.value;
        if (user.place.base == each.result) user.place.base = instead.value;
      }
    }
    auto& rest = smaller.functions[f].blocks[b].instructions;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    if (take(std::move(smaller))) return true;
  }
  return false;
}

bool smaller_step(const Module& module, const Take& take) {
  for (std::size_t f = 0; f + 1 < module.functions.size(); ++f) {
    Module smaller = module;
    smaller.functions.erase(smaller.functions.begin() + static_cast<std::ptrdiff_t>(f));
    if (take(std::move(smaller))) return true;
  }
  for (std::size_t f = module.functions.size(); f-- > 0;) {
    for (std::size_t b = module.functions[f].blocks.size(); b-- > 0;) {
      const auto& all = module.functions[f].blocks[b].instructions;
      for (std::size_t i = all.size(); i-- > 0;) {
        const bool ends = all[i].op == Op::kJump || all[i].op == Op::kReturn || all[i].op == Op::kUnreachable;
        if (all[i].op == Op::kBranch ? straighten(module, f, b, i, take)
                                     : !ends && leave_out(module, f, b, i, take))
          return true;
      }
    }
  }
  return false;
}

// A block that only one jump leads to goes on where that stood; blocks that nothing leads to go.
void join_blocks(Function& function) {
  for (bool changed = true; std::exchange(changed, false);) {
    std::vector<std::size_t> entered(function.blocks.size());
    std::vector<bool> seen(function.blocks.size());
    std::vector<BlockId> work = {0};
    while (!work.empty()) {
      const BlockId next = work.back();
      work.pop_back();
      if (seen[next]) continue;
      seen[next] = true;
      if (function.blocks[next].instructions.empty()) continue;
      for (const BlockId target : function.blocks[next].instructions.back().targets) {
        ++entered[target];
        work.push_back(target);
      }
    }
    for (std::size_t b = 0; b < function.blocks.size(); ++b) {
      auto& mine = function.blocks[b].instructions;
      if (!seen[b]) mine.clear();
      if (mine.empty() || mine.back().op != Op::kJump) continue;
      const BlockId next = mine.back().targets[0];
      if (entered[next] != 1 || next == b || next == 0) continue;
      std::vector<Instruction> theirs = std::exchange(function.blocks[next].instructions, {});
      mine.pop_back();
      mine.insert(mine.end(), theirs.begin(), theirs.end());
      changed = true;
      break;
    }
  }
  std::vector<BlockId> moved(function.blocks.size());
  std::vector<flow::Block> kept;
  for (std::size_t b = 0; b < function.blocks.size(); ++b) {
    moved[b] = static_cast<BlockId>(kept.size());
    if (b == 0 || !function.blocks[b].instructions.empty()) kept.push_back(function.blocks[b]);
  }
  for (flow::Block& block : kept) {
    for (Instruction& each : block.instructions) {
      for (BlockId& target : each.targets) target = moved[target];
    }
  }
  function.blocks = std::move(kept);
}
}  // namespace

Module shrink(Module module, const StillFails& still_fails) {
  const Take take = [&](Module smaller) {
    if (!still_fails(smaller)) return false;
    module = std::move(smaller);
    return true;
  };
  while (smaller_step(Module(module), take)) {
  }
  Module joined = module;
  for (Function& function : joined.functions) join_blocks(function);
  take(std::move(joined));
  while (smaller_step(Module(module), take)) {
  }
  return module;
}

}  // namespace dtype_guard::oracle
