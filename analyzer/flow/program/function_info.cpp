#include "analyzer/flow/program/function_info.h"

#include <algorithm>

namespace dtype_guard::flow {
namespace {
const std::vector<BlockId>& targets(const Function& function, BlockId block) {
  static const std::vector<BlockId> none;
  const auto& instructions = function.blocks[block].instructions;
  return instructions.empty() ? none : instructions.back().targets;
}

using Edges = std::vector<std::vector<FunctionInfo::Edge>>;  // that lead to each block

// Blocks in postorder from the entry, without recursion: generated functions are deep.
template <typename Successors>
std::vector<BlockId> postorder(std::size_t count, const Successors& successors_of) {
  std::vector<BlockId> out;
  std::vector<bool> seen(count);
  std::vector<std::pair<BlockId, std::size_t>> stack;
  if (count > 0) {
    stack.emplace_back(0, 0);
    seen[0] = true;
  }
  while (!stack.empty()) {
    auto& [block, next] = stack.back();
    const auto& successors = successors_of(block);
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

std::vector<std::uint32_t> order_of(const std::vector<BlockId>& postorder, std::size_t count) {
  std::vector<std::uint32_t> out(count, UINT32_MAX);
  for (std::size_t i = 0; i < postorder.size(); ++i)
    out[postorder[i]] = static_cast<std::uint32_t>(postorder.size() - 1 - i);
  return out;
}

Edges edges_of(const Function& function, const std::vector<BlockId>& postorder,
               const std::vector<std::uint32_t>& order) {
  Edges out(function.blocks.size());
  for (const BlockId block : postorder) {
    const auto& successors = targets(function, block);
    for (std::size_t slot = 0; slot < successors.size(); ++slot) {
      if (successors[slot] >= out.size()) continue;
      out[successors[slot]].push_back({block, slot, order[successors[slot]] <= order[block]});
    }
  }
  return out;
}

FunctionInfo::Loop loop_at(BlockId head, const Edges& incoming) {
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

std::vector<FunctionInfo::Loop> loops_of(const std::vector<BlockId>& heads, const Edges& incoming) {
  std::vector<FunctionInfo::Loop> out;
  for (const BlockId head : heads) {
    if (FunctionInfo::Loop loop = loop_at(head, incoming); !loop.blocks.empty())
      out.push_back(std::move(loop));
  }
  return out;
}

// In postorder, so that what follows a loop comes behind all of it, whichever way its condition is spelt: the
// ways out of most loops are gone first.
std::vector<BlockId> blocks_in_order(const Function& function) {
  const std::size_t count = function.blocks.size();
  const auto as_written = [&](BlockId block) -> const std::vector<BlockId>& {
    return targets(function, block);
  };
  std::vector<BlockId> out = postorder(count, as_written);
  const auto loops = loops_of(out, edges_of(function, out, order_of(out, count)));
  if (loops.empty()) return out;
  std::vector<std::vector<BlockId>> outermost_first(count);
  for (const BlockId block : out) {
    const auto left = [&](BlockId to) {
      return std::count_if(loops.begin(), loops.end(), [&](const FunctionInfo::Loop& loop) {
        return to < count && loop.is_left_by(block, to);
      });
    };
    outermost_first[block] = targets(function, block);
    std::stable_sort(outermost_first[block].begin(), outermost_first[block].end(),
                     [&](BlockId a, BlockId b) { return left(a) > left(b); });
  }
  return postorder(count,
                   [&](BlockId block) -> const std::vector<BlockId>& { return outermost_first[block]; });
}

}  // namespace

bool FunctionInfo::always_follows(BlockId block, BlockId later) const {
  if (!after_) after_.emplace(*code_, order);
  return after_->always_follows(block, later);
}

FunctionInfo::FunctionInfo(const Function& function)
    : repeats(function.blocks.size()), always_throws(function.blocks.size()), code_(&function) {
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
  const std::vector<BlockId> blocks = blocks_in_order(function);
  order = order_of(blocks, function.blocks.size());
  incoming = edges_of(function, blocks, order);
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
  }
  // Every block of a cycle stands, in that order, between the two ends of one of its back edges.
  for (const BlockId to : blocks) {
    for (const Edge& edge : incoming[to]) {
      if (!edge.back) continue;
      for (std::size_t at = order[to]; at <= order[edge.from]; ++at)
        repeats[blocks[blocks.size() - 1 - at]] = true;
    }
  }
  loops = loops_of(blocks, incoming);
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

std::optional<std::size_t> parameter_for(const Function& callee, const Instruction& call,
                                         std::size_t argument) {
  const std::string& name = call.args[argument].name;
  for (std::size_t i = 0; i < callee.parameters.size(); ++i) {
    const bool is_it = name.empty() ? i + 1 == argument : callee.parameters[i].name == name;
    if (is_it && callee.parameters[i].rest == Rest::kNone) return i;
  }
  return std::nullopt;
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
