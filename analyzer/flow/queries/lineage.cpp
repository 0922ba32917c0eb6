#include "analyzer/flow/queries/lineage.h"

#include <set>

#include "analyzer/flow/program/consulted.h"

namespace dtype_guard::flow {
namespace {
constexpr std::size_t kMaxNodes = 400;
}

Lineage::Node Lineage::named(std::uint32_t function, const Place& place) {
  Node node{function, 0, 0, {}};
  for (const Place::Step& step : place.path) {
    if (step.kind == Place::Step::Kind::kField) node.field = step.field;
  }
  if (!node.field.empty()) return {0, 0, 0, node.field};
  node.value = place.base;
  node.variable = place.variable;
  return node;
}

std::vector<Lineage::Node> Lineage::stored(const Node& node) const {
  std::vector<Node> out;
  const auto look_in = [&](std::uint32_t id) {
    for (const Block& block : index_.function(id).blocks) {
      for (const Instruction& each : block.instructions) {
        if (each.op == Op::kStore && !each.args.empty() && named(id, each.place) == node) {
          out.push_back({id, each.args[0].value, 0, {}});
        }
      }
    }
  };
  if (node.field.empty()) {
    look_in(node.function);
  } else {
    for (std::uint32_t id = 0; id < index_.module().functions.size(); ++id) look_in(id);
  }
  return out;
}

std::vector<Lineage::Node> Lineage::passed(std::uint32_t function, std::int64_t position) const {
  std::vector<Node> out;
  const auto at = static_cast<std::size_t>(position);
  for (std::uint32_t id = 0; id < index_.module().functions.size(); ++id) {
    for (const Block& block : index_.function(id).blocks) {
      for (const Instruction& each : block.instructions) {
        if (each.op != Op::kCall || each.name != index_.function(function).key || at >= each.args.size()) {
          continue;
        }
        out.push_back({id, each.args[at].value, 0, {}});
      }
    }
  }
  return out;
}

std::vector<Lineage::Node> Lineage::before(const Node& node) const {
  if (!node.value) return stored(node);
  const Instruction* made = index_.info(node.function).definition(node.value);
  if (!made) return {};
  if (made->op == Op::kLoad || made->op == Op::kAddress) return {named(node.function, made->place)};
  if (made->op == Op::kParam) {
    const auto* position = std::get_if<std::int64_t>(&made->constant);
    return position ? passed(node.function, *position) : std::vector<Node>{};
  }
  std::vector<Node> out;
  const auto& callees = index_.find(made->name);
  if (made->op == Op::kCall && !callees.empty()) {
    for (const std::uint32_t callee : callees) {
      for (const Block& block : index_.function(callee).blocks) {
        const Instruction& last = block.instructions.back();
        if (last.op == Op::kReturn && !last.args.empty()) out.push_back({callee, last.args[0].value, 0, {}});
      }
    }
    return out;
  }
  if (made->op == Op::kDtypeOf || made->op == Op::kConst) return out;
  for (const Argument& each : made->args) {
    if (each.value && each.name != "dtype") out.push_back({node.function, each.value, 0, {}});
  }
  return out;
}

bool Lineage::derives(std::uint32_t function, const Instruction& instruction, std::uint32_t tester,
                      ValueId tested) const {
  Consulted::note_flow();
  // The names of what was tested: the value, the variable that it was loaded from, the argument it is.
  std::set<Node> wanted;
  std::vector<Node> work = {{tester, tested, 0, {}}};
  while (!work.empty() && wanted.size() < kMaxNodes) {
    const Node node = work.back();
    work.pop_back();
    if (!wanted.insert(node).second || !node.value) continue;
    const Instruction* made = index_.info(node.function).definition(node.value);
    const bool alias = made && (made->op == Op::kLoad || made->op == Op::kCopy || made->op == Op::kParam);
    if (!alias) continue;
    for (const Node& each : before(node)) work.push_back(each);
  }
  std::set<Node> seen;
  for (const Argument& each : instruction.args) work.push_back({function, each.value, 0, {}});
  while (!work.empty() && seen.size() < kMaxNodes) {
    const Node node = work.back();
    work.pop_back();
    if (wanted.count(node)) return true;
    if (!seen.insert(node).second) continue;
    for (const Node& each : before(node)) work.push_back(each);
  }
  return false;
}

}  // namespace dtype_guard::flow
