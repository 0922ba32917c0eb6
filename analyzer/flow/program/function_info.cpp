#include "analyzer/flow/program/function_info.h"

#include <algorithm>

namespace dtype_guard::flow {
namespace {
const std::vector<BlockId>& targets(const Function& function, BlockId block) {
  static const std::vector<BlockId> none;
  const auto& instructions = function.blocks[block].instructions;
  return instructions.empty() ? none : instructions.back().targets;
}

// Blocks in postorder from the entry, without recursion: generated functions are deep.
std::vector<BlockId> postorder(const Function& function) {
  std::vector<BlockId> out;
  std::vector<bool> seen(function.blocks.size());
  std::vector<std::pair<BlockId, std::size_t>> stack;
  if (!function.blocks.empty()) {
    stack.emplace_back(0, 0);
    seen[0] = true;
  }
  while (!stack.empty()) {
    auto& [block, next] = stack.back();
    const auto& successors = targets(function, block);
    if (next == successors.size()) {
      out.push_back(block);
      stack.pop_back();
      continue;
    }
    const BlockId successor = successors[next++];
    if (successor < seen.size() && !seen[successor]) {
      seen[successor] = true;
      stack.emplace_back(successor, 0);
    }
  }
  return out;
}

FunctionInfo::Loop loop_at(BlockId head, const std::vector<std::vector<FunctionInfo::Edge>>& incoming) {
  FunctionInfo::Loop out{head, {}};
  std::vector<BlockId> ends;
  for (const FunctionInfo::Edge& edge : incoming[head]) {
    if (edge.back) ends.push_back(edge.from);
  }
  if (ends.empty()) return out;
  out.blocks.resize(incoming.size());
  out.blocks[head] = true;
  while (!ends.empty()) {
    const BlockId block = ends.back();
    ends.pop_back();
    if (out.blocks[block]) continue;
    out.blocks[block] = true;
    for (const FunctionInfo::Edge& edge : incoming[block]) ends.push_back(edge.from);
  }
  return out;
}

}  // namespace

bool FunctionInfo::always_follows(BlockId block, BlockId later) const {
  if (!after_) after_.emplace(*code_, order);
  return after_->always_follows(block, later);
}

FunctionInfo::FunctionInfo(const Function& function)
    : order(function.blocks.size(), UINT32_MAX),
      repeats(function.blocks.size()),
      incoming(function.blocks.size()),
      always_throws(function.blocks.size()),
      code_(&function) {
  for (const Block& block : function.blocks) {
    for (const Instruction& instruction : block.instructions) {
      if (instruction.result >= definitions.size()) definitions.resize(instruction.result + std::size_t{1});
      if (instruction.result) definitions[instruction.result] = &instruction;
    }
  }
  used_.resize(definitions.size());
  const auto use = [&](ValueId id) {
    if (id < used_.size()) used_[id] = true;
  };
  for (const Block& block : function.blocks) {
    for (const Instruction& instruction : block.instructions) {
      use(instruction.place.base);
      for (const Argument& each : instruction.args) use(each.value);
    }
  }
  const std::vector<BlockId> blocks = postorder(function);
  for (std::size_t i = 0; i < blocks.size(); ++i)
    order[blocks[i]] = static_cast<std::uint32_t>(blocks.size() - 1 - i);
  defined_at_.resize(std::max<std::size_t>(1, definitions.size()));
  for (const BlockId block : blocks) {
    for (const Instruction& instruction : function.blocks[block].instructions)
      defined_at_[instruction.result] = order[block];
  }
  for (const BlockId block : blocks) {
    const auto& successors = targets(function, block);
    const auto& instructions = function.blocks[block].instructions;
    always_throws[block] = successors.empty()
                               ? !instructions.empty() && instructions.back().op == Op::kUnreachable
                               : std::all_of(successors.begin(), successors.end(), [&](BlockId each) {
                                   return each < always_throws.size() && always_throws[each];
                                 });
    for (std::size_t slot = 0; slot < successors.size(); ++slot) {
      if (successors[slot] >= incoming.size()) continue;
      incoming[successors[slot]].push_back({block, slot, order[successors[slot]] <= order[block]});
    }
  }
  // Every block of a cycle stands, in that order, between the two ends of one of its back edges.
  for (const BlockId to : blocks) {
    for (const Edge& edge : incoming[to]) {
      if (!edge.back) continue;
      for (std::size_t at = order[to]; at <= order[edge.from]; ++at)
        repeats[blocks[blocks.size() - 1 - at]] = true;
    }
  }
  for (const BlockId head : blocks) {
    if (Loop loop = loop_at(head, incoming); !loop.blocks.empty()) loops.push_back(std::move(loop));
  }
  for (auto& edges : incoming) {
    std::sort(edges.begin(), edges.end(), [&](const Edge& a, const Edge& b) {
      return std::pair(order[a.from], a.slot) < std::pair(order[b.from], b.slot);
    });
  }
}

const Parameter* parameter_of(const Function& code, const Instruction& param) {
  const auto* place = param.op == Op::kParam ? std::get_if<std::int64_t>(&param.constant) : nullptr;
  const std::int64_t at = place ? *place - (code.kind == FunctionKind::kFunction ? 0 : 1) : -1;
  const bool is_there = at >= 0 && at < static_cast<std::int64_t>(code.parameters.size());
  return is_there ? &code.parameters[static_cast<std::size_t>(at)] : nullptr;
}

bool stands_for_class(const Function& function) {
  return function.foreign &&
         std::any_of(function.blocks.begin(), function.blocks.end(), [](const Block& block) {
           return std::any_of(
               block.instructions.begin(), block.instructions.end(),
               [](const Instruction& each) { return each.op == Op::kObject || each.op == Op::kModule; });
         });
}

const std::vector<std::uint32_t>& units_of(const Function& function) {
  static const std::vector<std::uint32_t> only_one = {0};
  return function.units.empty() ? only_one : function.units;
}

}  // namespace dtype_guard::flow
