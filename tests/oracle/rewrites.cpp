#include "tests/oracle/rewrites.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace dtype_guard::oracle {
namespace {
using flow::Block;
using flow::BlockId;
using flow::Function;
using flow::Instruction;
using flow::Op;
using flow::ValueId;

Instruction beside(const Instruction& other, Op op, ValueId result, std::vector<flow::Argument> args) {
  Instruction out;
  out.op = op;
  out.result = result;
  out.args = std::move(args);
  out.range = other.range;
  return out;
}
}  // namespace

ValueId last_value(const Function& function) {
  ValueId out = 0;
  for (const Block& block : function.blocks) {
    for (const Instruction& each : block.instructions) out = std::max(out, each.result);
  }
  return out;
}

Module renamed(Module module, Random& /*random*/) {
  std::set<std::string> keys;
  for (Function& function : module.functions) {
    keys.insert(function.key);
    function.key += "_renamed";
    for (std::string& each : function.variables) each += "_renamed";
  }
  for (Function& function : module.functions) {
    for (Block& block : function.blocks) {
      for (Instruction& each : block.instructions) {
        const bool calls = each.op == Op::kCall || each.op == Op::kClosure;
        if (calls && keys.contains(each.name)) each.name += "_renamed";
      }
    }
  }
  return module;
}

Module with_dead_code(Module module, Random& random) {
  for (Function& function : module.functions) {
    const ValueId last = last_value(function);
    Block& block = function.blocks[random.below(function.blocks.size())];
    Instruction unused = beside(block.instructions.front(), Op::kConst, last + 1, {});
    unused.constant = std::int64_t{7};
    const Instruction end = beside(unused, Op::kReturn, 0, {});
    block.instructions.insert(block.instructions.begin(), unused);
    unused.result = last + 2;
    function.blocks.push_back({{unused, end}});
  }
  return module;
}

Module with_blocks_moved(Module module, Random& random) {
  for (Function& function : module.functions) {
    std::vector<BlockId> to(function.blocks.size());
    std::iota(to.begin(), to.end(), BlockId{0});
    for (std::size_t i = to.size(); i > 2; --i) std::swap(to[i - 1], to[1 + random.below(i - 1)]);
    std::vector<Block> moved(function.blocks.size());
    for (std::size_t i = 0; i < moved.size(); ++i) moved[to[i]] = std::move(function.blocks[i]);
    function.blocks = std::move(moved);
    for (Block& block : function.blocks) {
      for (Instruction& each : block.instructions) {
        for (BlockId& target : each.targets) target = to[target];
      }
    }
  }
  return module;
}

Module with_branches_turned(Module module, Random& /*random*/) {
  for (Function& function : module.functions) {
    ValueId last = last_value(function);
    for (Block& block : function.blocks) {
      Instruction& branch = block.instructions.back();
      if (branch.op != Op::kBranch) continue;
      Instruction opposite = beside(branch, Op::kOperator, ++last, branch.args);
      opposite.name = "logical_not";
      branch.args[0].value = last;
      std::swap(branch.targets[0], branch.targets[1]);
      block.instructions.insert(block.instructions.end() - 1, std::move(opposite));
    }
  }
  return module;
}

Module with_own_dtypes(Module module, Random& /*random*/) {
  for (Function& function : module.functions) {
    ValueId last = last_value(function);
    for (Block& block : function.blocks) {
      std::vector<Instruction> all;
      for (Instruction& each : block.instructions) {
        for (flow::Argument& given : each.args) {
          if (each.op != Op::kSink) break;
          const ValueId dtype = ++last, cast = ++last;
          all.push_back(beside(each, Op::kDtypeOf, dtype, {{"", given.value}}));
          all.push_back(beside(each, Op::kCast, cast, {{"", given.value}, {"", dtype}}));
          given.value = cast;
        }
        all.push_back(std::move(each));
      }
      block.instructions = std::move(all);
    }
  }
  return module;
}

}  // namespace dtype_guard::oracle
