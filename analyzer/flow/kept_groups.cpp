#include "analyzer/flow/kept_groups.h"

#include <algorithm>
#include <functional>
#include <set>

namespace dtype_guard::flow {

void KeptGroups::begin(const Program& program) {
  const Module& module = program.functions.module();
  const Outline now = outline_of(program);
  std::vector<std::uint64_t> fresh = contents_of(module);
  if (now != kept_.outline || kept_.contents.size() != fresh.size()) {
    kept_.groups.clear();
    kept_.halves.clear();
    kept_.contents = fresh;
  }
  kept_.outline = now;
  is_changed_.assign(fresh.size(), false);
  for (std::size_t i = 0; i < fresh.size(); ++i) is_changed_[i] = fresh[i] != kept_.contents[i];
  kept_.contents = std::move(fresh);
  now_.clear();
  note_places(module);
}

void KeptGroups::note_places(const Module& module) {
  spans_.clear();
  for (std::uint32_t id = 0; id < module.functions.size(); ++id) {
    std::uint32_t count = 0;
    for (const Block& block : module.functions[id].blocks) {
      const Instruction* first = block.instructions.data();
      if (!block.instructions.empty())
        spans_.push_back({first, first + block.instructions.size(), {id, count}});
      count += static_cast<std::uint32_t>(block.instructions.size());
    }
  }
  std::sort(spans_.begin(), spans_.end(),
            [](const Span& a, const Span& b) { return std::less<>()(a.begin, b.begin); });
}

void KeptGroups::end() { kept_.groups = std::move(now_); }

const KeptGroup* KeptGroups::find(const std::string& key, const Program& program) const {
  const auto found = kept_.groups.find(key);
  if (found == kept_.groups.end()) return nullptr;
  const KeptGroup& group = found->second;
  const bool is_same =
      std::none_of(group.functions.begin(), group.functions.end(),
                   [&](std::uint32_t each) { return each >= is_changed_.size() || is_changed_[each]; }) &&
      std::all_of(group.modules.begin(), group.modules.end(), [&](const KeptGroup::CallsOf& each) {
        return each.forward < kept_.contents.size() && hash_of_calls(each.forward, program) == each.hash;
      });
  return is_same ? &group : nullptr;
}

void KeptGroups::keep(const std::string& key, KeptGroup group) {
  now_.insert_or_assign(key, std::move(group));
}

const ClassesMadeHalf* KeptGroups::halves(const std::string& key) const {
  const auto found = kept_.halves.find(key);
  return found == kept_.halves.end() ? nullptr : &found->second;
}

bool KeptGroups::can_be_kept(const std::vector<KeptRoot>& roots, const Consulted& consulted) {
  return !consulted.has_flow() && std::all_of(roots.begin(), roots.end(), [](const KeptRoot& each) {
    return each.findings.empty() && each.decided.empty();
  });
}

KeptGroup KeptGroups::group(const std::vector<KeptRoot>& roots, const SeenByRoots& seen,
                            const Consulted& consulted, const std::set<std::uint32_t>& ran,
                            const Program& program) const {
  KeptGroup out;
  for (const KeptRoot& each : roots)
    out.roots.push_back({each.is_settled, each.is_left_out, each.is_given_up, each.problem, 0, 0});
  for (const SinkRecord& record : seen.records) {
    KeptGroup::Call& call = out.calls.emplace_back();
    call.name = record.instruction->name;
    call.range = record.instruction->range;
    call.root = record.root;
    call.function = record.function;
    call.place = record.place;
    for (const SinkOperand& each : record.operands) call.operands.push_back({each.role, is_known(each)});
  }
  out.followed = positions(seen.followed.followed);
  out.lost = positions(seen.followed.lost);
  out.steps = seen.steps;
  std::set<std::uint32_t> functions = ran;
  for (const std::uint32_t body : consulted.bodies()) functions.merge(program.functions.reached_from(body));
  for (const std::uint32_t forward : consulted.forwards()) {
    for (const auto& [function, call] : program.called_modules.calls_of(forward)) functions.insert(function);
    out.modules.push_back({forward, hash_of_calls(forward, program)});
  }
  out.functions.assign(functions.begin(), functions.end());
  return out;
}

void KeptGroups::give_back(const KeptGroup& group, const Program& program, SeenByRoots& seen) const {
  for (const KeptGroup::Call& call : group.calls) {
    Instruction& instruction = seen.calls.emplace_back();
    instruction.op = Op::kSink;
    instruction.name = call.name;
    instruction.range = call.range;
    SinkRecord& record = seen.records.emplace_back();
    record.instruction = &instruction;
    record.root = call.root;
    record.function = call.function;
    record.place = call.place;
    for (const auto& [role, is_known] : call.operands) {
      SinkOperand& operand = record.operands.emplace_back();
      operand.role = role;
      if (is_known) operand.alternatives.push_back(Alternative::at(Alternative::Kind::kNone, 0));
    }
  }
  for (const KeptGroup::Position& each : group.followed) {
    if (const Instruction* one = at(each, program)) seen.followed.followed.insert(one);
  }
  for (const KeptGroup::Position& each : group.lost) {
    if (const Instruction* one = at(each, program)) seen.followed.lost.insert(one);
  }
  seen.steps = group.steps;
}

std::uint64_t KeptGroups::hash_of_calls(std::uint32_t forward, const Program& program) const {
  std::uint64_t out = 0;
  for (const auto& [function, call] : program.called_modules.calls_of(forward)) {
    const std::vector<KeptGroup::Position> place = positions({call});
    const std::uint64_t position = place.empty() ? 0 : place.front().instruction;
    out = (out ^ (std::uint64_t{function} << 32U | position) ^ kept_.contents[function]) *
          0x9e3779b97f4a7c15ULL;
    out ^= out >> 29U;
  }
  return out;
}

std::vector<KeptGroup::Position> KeptGroups::positions(
    const std::unordered_set<const Instruction*>& of) const {
  std::vector<KeptGroup::Position> out;
  for (const Instruction* each : of) {
    auto span = std::upper_bound(
        spans_.begin(), spans_.end(), each,
        [](const Instruction* one, const Span& other) { return std::less<>()(one, other.begin); });
    // What has no source of its own stands in no function of the program.
    if (span == spans_.begin() || !std::less<>()(each, (--span)->end)) continue;
    out.push_back(
        {span->first.function, span->first.instruction + static_cast<std::uint32_t>(each - span->begin)});
  }
  std::sort(out.begin(), out.end(), [](const KeptGroup::Position& a, const KeptGroup::Position& b) {
    return std::tie(a.function, a.instruction) < std::tie(b.function, b.instruction);
  });
  return out;
}

const Instruction* KeptGroups::at(const KeptGroup::Position& position, const Program& program) const {
  const Module& module = program.functions.module();
  if (position.function >= module.functions.size()) return nullptr;
  std::size_t left = position.instruction;
  for (const Block& block : module.functions[position.function].blocks) {
    if (left < block.instructions.size()) return &block.instructions[left];
    left -= block.instructions.size();
  }
  return nullptr;
}

}  // namespace dtype_guard::flow
