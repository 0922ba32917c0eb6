// Known: at every call some alternative is not known, or what arrives in each run lies among them. Precision:
// what is of one dtype in all runs is one certain alternative.
#include <algorithm>
#include <set>

#include "analyzer/flow/engine/interpreter/engine.h"
#include "analyzer/flow/ir/mnemonics.h"
#include "tests/oracle/properties.h"

namespace dtype_guard::oracle {
namespace {
using flow::Alternative;
using Alternatives = std::vector<Alternative>;
using ByLine = std::map<int, Alternatives>;

// What the engine says may arrive at each probe, whichever way it is come to.
ByLine alternatives(const Subject& subject) {
  ByLine out;
  const flow::Program program(subject.module);
  flow::Work work;
  flow::AnalysisOptions options = subject.options;
  options.device = subject.world.device;
  flow::Engine engine(program, options, subject.setting, subject.world.torch_version, work);
  engine.evaluate_root(static_cast<std::uint32_t>(&subject.root - subject.module.functions.data()));
  for (const flow::SinkRecord& record : engine.records()) {
    if (record.instruction->name != "probe") continue;
    Alternatives& all = out[record.instruction->range.line];
    for (const flow::SinkOperand& operand : record.operands)
      all.insert(all.end(), operand.alternatives.begin(), operand.alternatives.end());
  }
  return out;
}

bool is_open(const Alternative& each) {
  const bool tensor = each.kind == Alternative::Kind::kTensor;
  return each.uncertain || (!tensor && each.kind != Alternative::Kind::kNone) ||
         (tensor && each.dtype == Dtype::kUndefined);
}
bool is_that(const Alternative& each, const Arrival& arrived) {
  if (arrived.is_none) return each.kind == Alternative::Kind::kNone;
  if (each.kind != Alternative::Kind::kTensor || each.dtype != arrived.dtype) return false;
  if (each.rank.wrapped || arrived.is_number) return each.rank.wrapped == arrived.is_number;
  return each.rank.min <= arrived.rank && arrived.rank <= each.rank.max;
}

std::string text(const Arrival& arrived) {
  if (arrived.is_none) return "none";
  return std::string(name(arrived.dtype)) +
         (arrived.is_number ? " number" : " of rank " + std::to_string(arrived.rank));
}
std::string text(const Alternatives& all) {
  std::string out;
  for (const Alternative& each : all) {
    const bool tensor = each.kind == Alternative::Kind::kTensor;
    out += out.empty() ? "" : ", ";
    out += tensor                                  ? std::string(name(each.dtype))
           : each.kind == Alternative::Kind::kNone ? "none"
                                                   : "unknown";
    if (tensor && each.rank.wrapped) out += " number";
    if (tensor && !each.rank.wrapped)
      out += " of rank " + std::to_string(each.rank.min) + ".." + std::to_string(each.rank.max);
    if (each.uncertain) out += " perhaps";
  }
  return out.empty() ? "nothing" : out;
}
std::string place(int line, const World& world) {
  return "line " + std::to_string(line) + " under " + world.name;
}

// The instruction on each line of the root, under which its precision is recorded. Not those of other
// functions: one that is called twice is known better than its calls taken together.
std::map<int, std::string> kinds_of(const Function& root) {
  std::map<int, std::string> out;
  for (const flow::Block& block : root.blocks) {
    for (const Instruction& each : block.instructions)
      out.emplace(each.range.line, std::string(flow::mnemonic(each.op).word));
  }
  return out;
}

bool is_precise(const Alternatives& all, const Arrival& always) {
  return !all.empty() && std::all_of(all.begin(), all.end(), [&](const Alternative& one) {
    if (always.is_none) return one.kind == Alternative::Kind::kNone;
    return one.dtype == always.dtype && !one.uncertain;
  });
}
}  // namespace

void check_known(const Subject& subject, bool must_be_precise, Tally& tally, Violations& out) {
  ByLine known;
  try {
    known = alternatives(subject);
  } catch (const flow::BudgetExceeded&) {
    ++tally.given_up;
    return;
  }
  std::set<int> left_out;
  for (const Instruction* each : subject.runs.assumed_away_at) left_out.insert(each->range.line);
  std::map<int, std::vector<Arrival>> met;
  for (const Arrival& each : subject.runs.arrivals) {
    met[each.line].push_back(each);
    ++tally.arrivals;
    const Alternatives& all = known[each.line];
    const bool holds = std::any_of(
        all.begin(), all.end(), [&](const Alternative& one) { return is_open(one) || is_that(one, each); });
    // Where runs come that it takes for none it may say nothing; of a guessed setting they may not be among
    // these.
    const bool may_be_left_out = !subject.world.is_named && !subject.runs.are_all;
    const bool is_left_out = all.empty() && (may_be_left_out || left_out.contains(each.line));
    if (holds || is_left_out) continue;
    out.push_back(
        {"known", place(each.line, subject.world) + ": " + text(each) + " arrives, known is " + text(all)});
    return;
  }
  if (!subject.runs.are_all || subject.runs.assumed_away > 0) return;
  const auto kinds = kinds_of(subject.root);
  for (const auto& [line, arrived] : met) {
    const auto kind = kinds.find(line);
    const bool same = std::all_of(arrived.begin(), arrived.end(), [&](const Arrival& each) {
      return each.dtype == arrived[0].dtype && each.is_none == arrived[0].is_none;
    });
    if (kind == kinds.end() || !same) continue;
    const bool precise = is_precise(known[line], arrived[0]);
    Share& share = tally.known[kind->second];
    ++share.of;
    share.found += precise;
    if (precise || !must_be_precise) continue;
    out.push_back({"precision", place(line, subject.world) + ": always " + text(arrived[0]) + ", known is " +
                                    text(known[line])});
    return;
  }
}

}  // namespace dtype_guard::oracle
