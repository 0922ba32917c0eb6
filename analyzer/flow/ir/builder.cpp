#include "analyzer/flow/ir/builder.h"

#include <algorithm>

namespace dtype_guard::flow {

namespace {
bool is_terminator(Op op) {
  return op == Op::kJump || op == Op::kBranch || op == Op::kReturn || op == Op::kUnreachable;
}

Instruction at(const Builder::Position& position, Op op) {
  Instruction instruction;
  instruction.op = op;
  instruction.range = position.range;
  instruction.text = position.text;
  instruction.written = position.written;
  return instruction;
}
}  // namespace

BlockId Builder::block() {
  function_.blocks.emplace_back();
  return static_cast<BlockId>(function_.blocks.size() - 1);
}

bool Builder::open() const {
  const auto& instructions = function_.blocks[current_].instructions;
  return instructions.empty() || !is_terminator(instructions.back().op);
}

VariableId Builder::variable(const std::string& name) {
  function_.variables.push_back(name);
  return static_cast<VariableId>(function_.variables.size() - 1);
}

ValueId Builder::append(Instruction instruction, bool has_result) {
  if (!open()) enter(block());
  if (has_result) instruction.result = ++last_value_;
  function_.blocks[current_].instructions.push_back(std::move(instruction));
  return has_result ? last_value_ : 0;
}

ValueId Builder::constant(Constant value) {
  Instruction instruction = at(position_, Op::kConst);
  instruction.constant = std::move(value);
  return append(std::move(instruction), true);
}

ValueId Builder::parameter(int index) {
  Instruction instruction = at(position_, Op::kParam);
  instruction.constant = static_cast<std::int64_t>(index);
  return append(std::move(instruction), true);
}

ValueId Builder::value(Op op, std::string name, std::vector<Argument> arguments) {
  Instruction instruction = at(position_, op);
  instruction.name = std::move(name);
  instruction.args = std::move(arguments);
  return append(std::move(instruction), true);
}

ValueId Builder::value(Op op, ValueId argument) { return value(op, "", {{"", argument}}); }

ValueId Builder::cast(ValueId argument, ValueId dtype, bool implicit, ValueId from) {
  Instruction instruction = at(position_, Op::kCast);
  instruction.args = {{"", argument}, {"", dtype}};
  if (from) instruction.args.push_back({"from", from});
  instruction.implicit = implicit;
  return append(std::move(instruction), true);
}

ValueId Builder::load(Place place) {
  Instruction instruction = at(position_, Op::kLoad);
  instruction.place = std::move(place);
  return append(std::move(instruction), true);
}

ValueId Builder::address(Place place) {
  Instruction instruction = at(position_, Op::kAddress);
  instruction.place = std::move(place);
  return append(std::move(instruction), true);
}

ValueId Builder::registration(std::string kind, ValueId object, std::string name, ValueId value) {
  Instruction instruction = at(position_, Op::kRegister);
  instruction.name = std::move(kind);
  instruction.constant = std::move(name);
  instruction.args = {{"", object}, {"", value}};
  return append(std::move(instruction), true);
}

void Builder::store(Place place, ValueId value) {
  Instruction instruction = at(position_, Op::kStore);
  instruction.place = std::move(place);
  instruction.args = {{"", value}};
  append(std::move(instruction), false);
}

void Builder::effect(Op op, std::string name, std::vector<Argument> arguments) {
  Instruction instruction = at(position_, op);
  instruction.name = std::move(name);
  instruction.args = std::move(arguments);
  append(std::move(instruction), false);
}

void Builder::jump(BlockId target) {
  if (!open()) return;
  Instruction instruction = at(position_, Op::kJump);
  instruction.targets = {target};
  append(std::move(instruction), false);
}

void Builder::branch(ValueId condition, BlockId yes, BlockId no) {
  Instruction instruction = at(position_, Op::kBranch);
  instruction.args = {{"", condition}};
  instruction.targets = {yes, no};
  append(std::move(instruction), false);
}

void Builder::give_back(ValueId value) {
  Instruction instruction = at(position_, Op::kReturn);
  if (value) instruction.args = {{"", value}};
  append(std::move(instruction), false);
}

void Builder::unreachable() {
  if (open()) append(at(position_, Op::kUnreachable), false);
}

void Builder::finish() {
  if (open()) give_back(0);
  // Reverse postorder, the first target of a branch before the second: the order of reading.
  std::vector<Block>& blocks = function_.blocks;
  std::vector<bool> reached(blocks.size(), false);
  std::vector<BlockId> postorder;
  std::vector<std::pair<BlockId, std::size_t>> path = {{0, 0}};  // block, targets seen, last one first
  reached[0] = true;
  while (!path.empty()) {
    auto& [id, seen] = path.back();
    const std::vector<BlockId>& targets = blocks[id].instructions.back().targets;
    if (seen == targets.size()) {
      postorder.push_back(id);
      path.pop_back();
      continue;
    }
    const BlockId target = targets[targets.size() - ++seen];
    if (reached[target]) continue;
    reached[target] = true;
    path.emplace_back(target, 0);
  }
  std::vector<BlockId> moved(blocks.size(), 0);
  std::vector<Block> kept;
  for (auto id = postorder.rbegin(); id != postorder.rend(); ++id) {
    moved[*id] = static_cast<BlockId>(kept.size());
    kept.push_back(std::move(blocks[*id]));
  }
  for (Block& each : kept) {
    for (BlockId& target : each.instructions.back().targets) target = moved[target];
  }
  blocks = std::move(kept);
  std::erase_if(function_.constants, [&](const Argument& constant) {
    return std::none_of(blocks.begin(), blocks.end(), [&](const Block& block) {
      return std::any_of(block.instructions.begin(), block.instructions.end(),
                         [&](const Instruction& each) { return each.result == constant.value; });
    });
  });
}

}  // namespace dtype_guard::flow
