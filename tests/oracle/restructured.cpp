// Rewrites that change how a program is divided: into functions, and into rounds of a loop.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/oracle/rewrites.h"

namespace dtype_guard::oracle {
namespace {
using flow::Block;
using flow::BlockId;
using flow::Function;
using flow::Instruction;
using flow::Op;
using flow::ValueId;

struct Site {
  std::size_t block = 0, instruction = 0;
};

// All that an instruction uses and makes has other names, and so do its variables.
void shift(Instruction& each, ValueId values, flow::VariableId variables) {
  if (each.result) each.result += values;
  for (flow::Argument& one : each.args) one.value += values;
  if (each.place.base) {
    each.place.base += values;
  } else {
    each.place.variable += variables;
  }
}

// Whether its parameters are the call's arguments, in their order.
bool binds_by_position(const Function& function, const Instruction& call) {
  return function.parameters.size() == call.args.size() &&
         std::all_of(call.args.begin(), call.args.end(),
                     [](const auto& each) { return each.name.empty(); }) &&
         std::all_of(function.parameters.begin(), function.parameters.end(),
                     [](const auto& each) { return each.rest == flow::Rest::kNone; });
}

bool has_one_block(const Function& function) {
  return function.kind == flow::FunctionKind::kFunction && function.blocks.size() == 1 &&
         function.blocks[0].instructions.back().op == Op::kReturn;
}

// Blocks of a loop, without its head.
std::vector<BlockId> body_of(const Function& function, BlockId head, BlockId first, BlockId after) {
  std::vector<BlockId> out, work = {first};
  while (!work.empty()) {
    const BlockId next = work.back();
    work.pop_back();
    if (next == head || next == after || std::find(out.begin(), out.end(), next) != out.end()) continue;
    out.push_back(next);
    const std::vector<BlockId>& targets = function.blocks[next].instructions.back().targets;
    work.insert(work.end(), targets.begin(), targets.end());
  }
  return out;
}

void unroll(Function& function, BlockId head) {
  const std::vector<BlockId> ends = function.blocks[head].instructions.back().targets;
  const std::vector<BlockId> body = body_of(function, head, ends[0], ends[1]);
  const ValueId values = last_value(function);
  const auto first_round =
      static_cast<BlockId>(function.blocks.size());  // its head; the body's blocks follow
  std::vector<Block> made = {function.blocks[head]};
  for (const BlockId each : body) made.push_back(function.blocks[each]);
  const auto is_inside = [&](ValueId id) {
    return std::any_of(made.begin(), made.end(), [&](const Block& block) {
      return std::any_of(block.instructions.begin(), block.instructions.end(),
                         [&](const Instruction& each) { return each.result == id; });
    });
  };
  std::vector<Block> copies = made;
  for (Block& block : copies) {
    for (Instruction& each : block.instructions) {
      if (each.result) each.result += values;
      for (flow::Argument& one : each.args) one.value += is_inside(one.value) ? values : 0;
      if (each.place.base && is_inside(each.place.base)) each.place.base += values;
      for (BlockId& target : each.targets) {
        const auto at = std::find(body.begin(), body.end(), target);
        if (at != body.end()) target = first_round + 1 + static_cast<BlockId>(at - body.begin());
      }
    }
  }
  for (BlockId b = 0; b < first_round; ++b) {
    if (std::find(body.begin(), body.end(), b) != body.end()) continue;
    for (BlockId& target : function.blocks[b].instructions.back().targets)
      target = target == head ? first_round : target;
  }
  function.blocks.insert(function.blocks.end(), copies.begin(), copies.end());
}
}  // namespace

Module outlined(Module module, Random& random) {
  constexpr const char* kOperators[] = {"mul",  "add",     "sub",     "exp",   "neg",
                                        "relu", "sigmoid", "maximum", "matmul"};
  Function& root = module.functions.back();
  std::vector<Site> sites;
  for (std::size_t b = 0; b < root.blocks.size(); ++b) {
    for (std::size_t i = 0; i < root.blocks[b].instructions.size(); ++i) {
      const Instruction& each = root.blocks[b].instructions[i];
      const bool fits =
          std::find(std::begin(kOperators), std::end(kOperators), each.name) != std::end(kOperators);
      if (each.op == Op::kOperator && each.result && fits) sites.push_back({b, i});
    }
  }
  if (sites.empty()) return module;
  const Site site = random.of(sites);
  Instruction& call = root.blocks[site.block].instructions[site.instruction];
  Function out;
  out.name = out.key = "outlined";
  out.external = false;
  out.foreign = true;
  out.range = call.range;
  Block& body = out.blocks.emplace_back();
  Instruction made = call;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    out.parameters.push_back({"x" + std::to_string(i), flow::ParameterKind::kTensor, "", false});
    Instruction param;
    param.op = Op::kParam;
    param.constant = static_cast<std::int64_t>(i);
    param.range = call.range;
    made.args[i].value = param.result = static_cast<ValueId>(i + 1);
    body.instructions.push_back(param);
    call.args[i].name.clear();
  }
  made.result = static_cast<ValueId>(call.args.size() + 1);
  Instruction end;
  end.op = Op::kReturn;
  end.range = call.range;
  end.args = {{"", made.result}};
  body.instructions.push_back(made);
  body.instructions.push_back(end);
  call.op = Op::kCall;
  call.name = out.key;
  module.functions.insert(module.functions.begin(), std::move(out));
  return module;
}

Module inlined(Module module, Random& /*random*/) {
  Function& root = module.functions.back();
  for (Block& block : root.blocks) {
    std::vector<Instruction> all;
    for (Instruction& each : block.instructions) {
      const auto callee =
          std::find_if(module.functions.begin(), module.functions.end(), [&](const Function& one) {
            return each.op == Op::kCall && one.key == each.name && has_one_block(one) &&
                   binds_by_position(one, each);
          });
      if (callee == module.functions.end()) {
        all.push_back(std::move(each));
        continue;
      }
      ValueId values = last_value(root);
      for (const Instruction& there : all) values = std::max(values, there.result);
      const auto variables = static_cast<flow::VariableId>(root.variables.size());
      for (Instruction copy : callee->blocks[0].instructions) {
        if (copy.op == Op::kReturn && copy.args.empty()) continue;
        shift(copy, values, variables);
        if (copy.op == Op::kReturn) copy.result = each.result;
        if (copy.op == Op::kParam)
          copy.args = {
              {"", each.args[static_cast<std::size_t>(std::get<std::int64_t>(copy.constant))].value}};
        if (copy.op == Op::kParam || copy.op == Op::kReturn) copy.op = Op::kCopy;
        all.push_back(std::move(copy));
      }
      for (const std::string& variable : callee->variables) root.variables.push_back(variable + "_of_callee");
    }
    block.instructions = std::move(all);
  }
  return module;
}

Module unrolled(Module module, Random& /*random*/) {
  Function& root = module.functions.back();
  const auto count = static_cast<BlockId>(root.blocks.size());
  for (BlockId b = 0; b < count; ++b) {
    const auto& all = root.blocks[b].instructions;
    const bool is_head = all.back().op == Op::kBranch && all.size() > 1 &&
                         (all.end() - 2)->name == flow::kMoreElements && all.back().targets[0] != b;
    if (!is_head) continue;
    unroll(root, b);
    break;
  }
  return module;
}

}  // namespace dtype_guard::oracle
