#include "analyzer/flow/program/function_info.h"

#include <algorithm>

#include "analyzer/flow/ir/registered_names.h"

namespace dtype_guard::flow {
namespace {
constexpr int kMaxBases = 16;  // one above the other

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

std::optional<VirtualCall> virtual_call(std::string_view name) {
  if (!name.starts_with(kVirtualCall)) return std::nullopt;
  name.remove_prefix(kVirtualCall.size());
  const std::size_t split = name.find("::");
  if (split == std::string_view::npos) return VirtualCall{name, {}};
  return VirtualCall{name.substr(0, split), name.substr(split + 2)};
}

std::string_view method_name(const Function& function) {
  const std::string_view name = function.name;
  const std::size_t scope = name.rfind("::");
  if (scope != std::string_view::npos) return name.substr(scope + 2);
  const std::size_t dot = name.rfind('.');
  return name.substr(dot == std::string_view::npos ? 0 : dot + 1);
}

FunctionIndex::FunctionIndex(const Module& module) : module_(&module), infos_(module.functions.size()) {
  for (const ClassFacts& each : module.classes) classes_[each.name] = &each;
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    const Function& function = module.functions[i];
    const auto id = static_cast<std::uint32_t>(i);
    if (function.blocks.empty()) continue;
    by_key_[function.key].push_back(id);
    if (function.kind == FunctionKind::kMethod) {
      const std::string name(method_name(function));
      const bool scoped = function.name.find("::") != std::string::npos;
      methods_[scoped ? function.name : function.class_name + "::" + name].push_back(id);
      methods_of_any_class_[name].push_back(id);
    }
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

const std::vector<std::uint32_t>& units_of(const Function& function) {
  static const std::vector<std::uint32_t> only_one = {0};
  return function.units.empty() ? only_one : function.units;
}

namespace {
bool is_seen_by(const Function& function, std::uint32_t unit) {
  const std::vector<std::uint32_t>& units = units_of(function);
  return std::binary_search(units.begin(), units.end(), unit);
}
}  // namespace

std::vector<std::uint32_t> FunctionIndex::methods(std::string_view name, std::size_t parameters,
                                                  std::uint32_t unit) const {
  std::vector<std::uint32_t> all, here;
  for (const std::uint32_t each : look_up(methods_, name)) {
    if (parameters != kAnyNumber && function(each).parameters.size() != parameters) continue;
    all.push_back(each);
    if (is_seen_by(function(each), unit)) here.push_back(each);
  }
  return here.empty() ? all : here;
}

const ClassFacts* FunctionIndex::class_facts(std::string_view name) const {
  const auto found = classes_.find(name);
  return found == classes_.end() ? nullptr : found->second;
}

std::vector<std::uint32_t> FunctionIndex::inherited(std::string_view class_name, std::string_view method,
                                                    std::size_t parameters, std::uint32_t unit) const {
  std::vector<std::string_view> level = {class_name};
  for (int depth = 0; depth < kMaxBases && !level.empty(); ++depth) {
    std::vector<std::uint32_t> out;
    std::vector<std::string_view> above;
    for (const std::string_view each : level) {
      const auto own = methods(std::string(each) + "::" + std::string(method), parameters, unit);
      out.insert(out.end(), own.begin(), own.end());
      const ClassFacts* facts = class_facts(each);
      if (facts) above.insert(above.end(), facts->bases.begin(), facts->bases.end());
    }
    if (!out.empty()) return out;
    level = std::move(above);
  }
  return {};
}

std::vector<std::uint32_t> FunctionIndex::may_run(const Instruction& instruction) const {
  if (instruction.op != Op::kCall && instruction.op != Op::kClosure) return {};
  if (is_registered_operator(instruction.name)) {
    const std::string any_key = instruction.name + "@";
    std::vector<std::uint32_t> out;
    for (auto each = by_key_.lower_bound(any_key); each != by_key_.end() && each->first.starts_with(any_key);
         ++each)
      out.insert(out.end(), each->second.begin(), each->second.end());
    return out;
  }
  if (instruction.name.starts_with(kAttributeCall)) return attribute_callees(instruction);
  const std::optional<VirtualCall> call = virtual_call(instruction.name);
  if (!call) return find(instruction.name);
  std::vector<std::uint32_t> out = look_up(methods_of_any_class_, call->method);
  const std::vector<std::uint32_t>& own = find(call->key);
  out.insert(out.end(), own.begin(), own.end());
  return out;
}

// Methods of that name, those of the same file where there are many.
std::vector<std::uint32_t> FunctionIndex::attribute_callees(const Instruction& instruction) const {
  constexpr std::size_t kMany = 32;
  std::string_view name = std::string_view(instruction.name).substr(kAttributeCall.size());
  const std::size_t split = name.find("::");
  const std::string_view key = split == std::string_view::npos ? std::string_view() : name.substr(split + 2);
  name = name.substr(0, split);
  const std::vector<std::uint32_t>& all =
      look_up(methods_of_any_class_, name == "__call__" ? "forward" : name);
  std::vector<std::uint32_t> out = find(key);
  std::copy_if(all.begin(), all.end(), std::back_inserter(out), [&](std::uint32_t each) {
    return all.size() < kMany || function(each).range.file == instruction.range.file;
  });
  return out;
}

const std::vector<std::uint32_t>& FunctionIndex::callees(std::uint32_t function) const {
  callees_.resize(module_->functions.size());
  std::optional<std::vector<std::uint32_t>>& known = callees_[function];
  if (known) return *known;
  std::set<std::uint32_t> all;
  for (const Block& block : this->function(function).blocks) {
    for (const Instruction& each : block.instructions) {
      const std::vector<std::uint32_t> found = may_run(each);
      all.insert(found.begin(), found.end());
    }
  }
  return known.emplace(all.begin(), all.end());
}

std::vector<std::uint32_t> FunctionIndex::constructors(std::string_view class_name,
                                                       std::uint32_t unit) const {
  const std::vector<std::uint32_t>& all = look_up(constructors_, class_name);
  std::vector<std::uint32_t> here;
  std::copy_if(all.begin(), all.end(), std::back_inserter(here),
               [&](std::uint32_t each) { return is_seen_by(function(each), unit); });
  if (!here.empty() || all.empty()) return here;
  // Two programs may each have a class of that name; constructors that no file has together may be such.
  const std::vector<std::uint32_t>& files = units_of(function(all.front()));
  const bool one_class = std::any_of(files.begin(), files.end(), [&](std::uint32_t file) {
    return std::all_of(all.begin(), all.end(),
                       [&](std::uint32_t each) { return is_seen_by(function(each), file); });
  });
  return one_class ? all : here;
}

}  // namespace dtype_guard::flow
