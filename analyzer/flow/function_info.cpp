#include "analyzer/flow/function_info.h"

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

}  // namespace

FunctionInfo::FunctionInfo(const Function& function)
    : order(function.blocks.size(), UINT32_MAX), incoming(function.blocks.size()) {
  for (const Block& block : function.blocks) {
    for (const Instruction& instruction : block.instructions) {
      if (instruction.result >= definitions.size()) definitions.resize(instruction.result + std::size_t{1});
      if (instruction.result) definitions[instruction.result] = &instruction;
    }
  }
  const std::vector<BlockId> blocks = postorder(function);
  for (std::size_t i = 0; i < blocks.size(); ++i)
    order[blocks[i]] = static_cast<std::uint32_t>(blocks.size() - 1 - i);
  for (const BlockId block : blocks) {
    const auto& successors = targets(function, block);
    for (std::size_t slot = 0; slot < successors.size(); ++slot) {
      if (successors[slot] >= incoming.size()) continue;
      incoming[successors[slot]].push_back({block, slot, order[successors[slot]] <= order[block]});
    }
  }
  for (auto& edges : incoming) {
    std::sort(edges.begin(), edges.end(), [&](const Edge& a, const Edge& b) {
      return std::pair(order[a.from], a.slot) < std::pair(order[b.from], b.slot);
    });
  }
}

FunctionIndex::FunctionIndex(const Module& module) : module_(&module), infos_(module.functions.size()) {
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    const Function& function = module.functions[i];
    const auto id = static_cast<std::uint32_t>(i);
    if (function.blocks.empty()) continue;
    by_key_[function.key].push_back(id);
    if (function.kind == FunctionKind::kMethod) methods_[function.name].push_back(id);
    if (function.kind == FunctionKind::kConstructor) constructors_[function.class_name].push_back(id);
  }
}

const FunctionInfo& FunctionIndex::info(std::uint32_t id) const {
  if (!infos_[id]) infos_[id] = std::make_unique<FunctionInfo>(function(id));
  return *infos_[id];
}

namespace {
const std::vector<std::uint32_t>& look_up(
    const std::map<std::string, std::vector<std::uint32_t>, std::less<>>& index, std::string_view key) {
  static const std::vector<std::uint32_t> none;
  const auto found = index.find(key);
  return found == index.end() ? none : found->second;
}
}  // namespace

const std::vector<std::uint32_t>& FunctionIndex::find(std::string_view key) const {
  return look_up(by_key_, key);
}

std::vector<std::uint32_t> FunctionIndex::methods(std::string_view name, std::size_t parameters) const {
  std::vector<std::uint32_t> out;
  for (const std::uint32_t each : look_up(methods_, name)) {
    if (function(each).parameters.size() == parameters) out.push_back(each);
  }
  return out;
}

const std::vector<std::uint32_t>& FunctionIndex::constructors(std::string_view class_name) const {
  return look_up(constructors_, class_name);
}

}  // namespace dtype_guard::flow
