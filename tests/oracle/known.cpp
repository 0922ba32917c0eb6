// Known: at every call some alternative is not known, or what arrives in each run lies among them. Precision:
// what is of one dtype in all runs is one certain alternative.
#include <algorithm>
#include <set>

#include "analyzer/flow/engine.h"
#include "analyzer/flow/mnemonics.h"
#include "tests/oracle/properties.h"

namespace dtype_guard::oracle {
namespace {
using flow::Alternative;
using Alternatives = std::vector<Alternative>;
using ByInstruction = std::map<const Instruction*, Alternatives>;

// By call and operand what the engine says may arrive, whichever way the call is come to.
std::map<std::pair<const Instruction*, std::string>, Alternatives> alternatives(const Subject& subject) {
  std::map<std::pair<const Instruction*, std::string>, Alternatives> out;
  const flow::FunctionIndex index(subject.module);
  flow::Engine engine(index, subject.options, subject.setting, subject.world.torch_version);
  engine.evaluate_root(static_cast<std::uint32_t>(&subject.root - subject.module.functions.data()));
  for (const flow::SinkRecord& record : engine.records()) {
    for (const flow::SinkOperand& operand : record.operands) {
      Alternatives& all = out[{record.instruction, operand.role}];
      all.insert(all.end(), operand.alternatives.begin(), operand.alternatives.end());
    }
  }
  return out;
}

bool is_open(const Alternative& each) {
  const bool tensor = each.kind == Alternative::Kind::kTensor;
  return each.uncertain || (!tensor && each.kind != Alternative::Kind::kNone) ||
         (tensor && each.dtype == Dtype::kUndefined);
}
bool is_that(const Alternative& each, const Arrived& arrived) {
  if (arrived.is_none) return each.kind == Alternative::Kind::kNone;
  const Tensor& tensor = arrived.tensor;
  if (each.kind != Alternative::Kind::kTensor || each.dtype != tensor.dtype) return false;
  if (each.rank.wrapped || tensor.is_number) return each.rank.wrapped == tensor.is_number;
  return each.rank.min <= tensor.rank && tensor.rank <= each.rank.max;
}

std::string text(const Arrived& arrived) {
  if (arrived.is_none) return "none";
  return std::string(name(arrived.tensor.dtype)) +
         (arrived.tensor.is_number ? " number" : " of rank " + std::to_string(arrived.tensor.rank));
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

// The instruction that a probe stands behind: the kind under which its precision is recorded.
// Of the root alone: a function that is called twice is known better than its calls taken together.
std::map<const Instruction*, std::string> kinds_of(const Function& root) {
  std::map<const Instruction*, std::string> out;
  for (const flow::Block& block : root.blocks) {
    for (std::size_t i = 1; i < block.instructions.size(); ++i) {
      const Instruction& of = block.instructions[i - 1];
      if (block.instructions[i].op == flow::Op::kSink && block.instructions[i].name == "probe")
        out[&block.instructions[i]] = std::string(flow::mnemonic(of.op).word);
    }
  }
  return out;
}
}  // namespace

void check_known(const Subject& subject, bool must_be_precise, Tally& tally, Violations& out) {
  std::map<std::pair<const Instruction*, std::string>, Alternatives> known;
  try {
    known = alternatives(subject);
  } catch (const flow::BudgetExceeded&) {
    ++tally.given_up;
    return;
  }
  struct Met {
    std::set<std::pair<Dtype, bool>> dtypes;  // and whether it was none
    const Arrived* example = nullptr;
  };
  std::map<std::pair<const Instruction*, std::string>, Met> met;
  for (const Run& run : subject.runs.runs) {
    for (const Observation& seen : run.observations) {
      for (const Arrived& each : seen.operands) {
        Met& here = met[{seen.sink, each.role}];
        if (here.dtypes.empty()) here.example = &each;
        here.dtypes.emplace(each.tensor.dtype, each.is_none);
        ++tally.arrivals;
        const auto found = known.find({seen.sink, each.role});
        const Alternatives all = found == known.end() ? Alternatives() : found->second;
        const bool holds = std::any_of(all.begin(), all.end(), [&](const Alternative& one) {
          return is_open(one) || is_that(one, each);
        });
        if (holds) continue;
        out.push_back({"known", "line " + std::to_string(seen.sink->range.line) + " under " +
                                    subject.world.name + ": " + each.role + " arrives as " + text(each) +
                                    ", known is " + text(all)});
        return;
      }
    }
  }
  if (!subject.runs.are_all) return;
  const auto kinds = kinds_of(subject.root);
  for (const auto& [where, here] : met) {
    const auto kind = kinds.find(where.first);
    if (kind == kinds.end() || here.dtypes.size() != 1) continue;
    const auto found = known.find(where);
    const bool precise = found != known.end() && !found->second.empty() &&
                         std::all_of(found->second.begin(), found->second.end(), [&](const Alternative& one) {
                           if (here.example->is_none) return one.kind == Alternative::Kind::kNone;
                           return one.dtype == here.example->tensor.dtype && !one.uncertain;
                         });
    Share& share = tally.known[kind->second];
    ++share.of;
    share.found += precise;
    if (precise || !must_be_precise) continue;
    out.push_back({"precision", "line " + std::to_string(where.first->range.line) + " under " +
                                    subject.world.name + ": always " + text(*here.example) + ", known is " +
                                    text(found == known.end() ? Alternatives() : found->second)});
    return;
  }
}

}  // namespace dtype_guard::oracle
