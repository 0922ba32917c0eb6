#include "analyzer/flow/program/postdominators.h"

#include <algorithm>
#include <utility>

namespace dtype_guard::flow {
namespace {
constexpr std::uint32_t kNone = UINT32_MAX;

struct Graph {
  std::vector<std::vector<std::uint32_t>> after;   // the end has none
  std::vector<std::vector<std::uint32_t>> before;  // of the end: the blocks that return
};

Graph graph_of(const Function& function, const std::vector<std::uint32_t>& order) {
  const std::size_t count = function.blocks.size();
  const auto end = static_cast<std::uint32_t>(count);
  Graph out{std::vector<std::vector<std::uint32_t>>(count + 1),
            std::vector<std::vector<std::uint32_t>>(count + 1)};
  for (std::uint32_t block = 0; block < end; ++block) {
    if (order[block] == kNone) continue;
    const auto& code = function.blocks[block].instructions;
    const bool throws = !code.empty() && code.back().op == Op::kUnreachable;
    const bool returns = code.empty() || code.back().targets.empty();
    std::vector<std::uint32_t>& after = out.after[block];
    if (!returns) {
      std::copy_if(code.back().targets.begin(), code.back().targets.end(), std::back_inserter(after),
                   [&](BlockId each) { return each < end; });
    } else if (!throws) {
      after.push_back(end);
    }
    for (const std::uint32_t each : after) out.before[each].push_back(block);
  }
  return out;
}

// From the end, in an order in which a block comes after one that follows it; those that never return are
// absent.
std::vector<std::uint32_t> backwards(const Graph& graph) {
  std::vector<std::uint32_t> out;
  std::vector<bool> seen(graph.before.size());
  const auto end = static_cast<std::uint32_t>(graph.before.size() - 1);
  std::vector<std::pair<std::uint32_t, std::size_t>> stack = {{end, 0}};
  seen[end] = true;
  while (!stack.empty()) {
    auto& [block, next] = stack.back();
    if (next == graph.before[block].size()) {
      out.push_back(block);
      stack.pop_back();
      continue;
    }
    const std::uint32_t before = graph.before[block][next++];
    if (!seen[before]) {
      seen[before] = true;
      stack.emplace_back(before, 0);
    }
  }
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace

// Cooper, Harvey and Kennedy's iteration: "A Simple, Fast Dominance Algorithm", 2001.
Postdominators::Postdominators(const Function& function, const std::vector<std::uint32_t>& order)
    : next_(function.blocks.size() + 1, kNone), depth_(function.blocks.size() + 1) {
  const Graph graph = graph_of(function, order);
  const std::vector<std::uint32_t> blocks = backwards(graph);
  std::vector<std::size_t> position(next_.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) position[blocks[i]] = i;
  const std::uint32_t end = blocks.front();
  next_[end] = end;
  const auto meet = [&](std::uint32_t a, std::uint32_t b) {
    while (a != b) {
      while (position[a] > position[b]) a = next_[a];
      while (position[b] > position[a]) b = next_[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::uint32_t block : blocks) {
      if (block == end) continue;
      std::uint32_t next = kNone;
      for (const std::uint32_t each : graph.after[block]) {
        if (next_[each] != kNone) next = next == kNone ? each : meet(each, next);
      }
      changed = changed || next_[block] != next;
      next_[block] = next;
    }
  }
  for (const std::uint32_t block : blocks) {
    if (block != end) depth_[block] = depth_[next_[block]] + 1;
  }
}

bool Postdominators::always_follows(BlockId block, BlockId later) const {
  if (next_[block] == kNone || block == later) return true;
  if (next_[later] == kNone) return false;
  std::uint32_t at = block;
  while (depth_[at] > depth_[later]) at = next_[at];
  return at == later;
}

}  // namespace dtype_guard::flow
