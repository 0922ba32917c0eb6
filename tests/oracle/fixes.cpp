// Fixes: what is offered, written into the program by its text alone, leaves no breaking run of the finding
// and begins none. Programs get a text for that: each tensor a name on the line of its instruction.
#include <algorithm>
#include <optional>

#include "analyzer/flow/fixes/fix_search.h"
#include "analyzer/flow/program/program.h"
#include "rules/operators/operators.h"
#include "tests/oracle/properties.h"
#include "tests/oracle/rewrites.h"

namespace dtype_guard::oracle {
namespace {
using flow::Block;
using flow::Op;
using flow::ValueId;
using Broken = std::set<std::pair<int, std::string>>;  // a call's line and the role
constexpr flow::VariableId kTensorVariables = 2;       // generated programs begin with them

std::string name_of(ValueId value) { return "x" + std::to_string(value); }

bool is_made_tensor(const Instruction& each) {
  const Operator* op = each.op == Op::kOperator ? find_operator(each.name) : nullptr;
  return each.result && (each.op == Op::kCast || (op && !op->list_result));
}
bool reads_variable(const Instruction& each) {
  return each.op == Op::kLoad && !each.place.base && each.place.path.empty() &&
         each.place.variable < kTensorVariables;
}

// The program with names, and its file.
struct Written {
  Module module;
  std::string text;
};
Written written(Module module) {
  Written out;
  std::vector<std::string> lines(kMostLines);
  Function& root = module.functions.back();
  for (Block& block : root.blocks) {
    for (Instruction& each : block.instructions) {
      if (is_made_tensor(each)) {
        each.text = name_of(each.result);
        root.constants.push_back({each.text, each.result});
      } else if (reads_variable(each)) {
        each.text = root.variables[each.place.variable];
      } else if (each.op == Op::kSink) {
        each.text = each.name + "(";
        for (const flow::Argument& given : each.args)
          each.text += (each.text.ends_with("(") ? "" : ", ") + name_of(given.value);
        each.text += ")";
      } else {
        continue;
      }
      if (each.op != Op::kSink) each.written = flow::Written::kTensor;
      each.range.column = 1;
      each.range.end_line = each.range.line;
      each.range.end_column = 1 + static_cast<int>(each.text.size());
      lines.at(line_of(each)) = each.text;
    }
  }
  for (std::size_t i = 1; i < lines.size(); ++i) out.text += lines[i] + "\n";
  out.module = std::move(module);
  return out;
}

// "NAME" of ".to(NAME.scalar_type())".
std::optional<std::string> like_of(const std::string& replacement) {
  const std::size_t begin = replacement.find(".to("), end = replacement.find(".scalar_type())");
  if (begin != 0 || end == std::string::npos) return std::nullopt;
  return replacement.substr(4, end - 4);
}

// Which argument of a call ends at that column; the number of all where none does.
std::size_t argument_at(const Instruction& call, int column) {
  std::size_t end = call.name.size() + 2;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    end += name_of(call.args[i].value).size() + (i > 0 ? 2 : 0);
    if (static_cast<int>(end) == column) return i;
  }
  return call.args.size();
}

// The instructions of ".to(LIKE.scalar_type())" on a value.
std::vector<Instruction> cast_of(const Function& function, const Instruction& at, ValueId value,
                                 const std::string& like) {
  const ValueId last = last_value(function);
  Instruction read, dtype, cast;
  const auto variable = std::find(function.variables.begin(), function.variables.end(), like);
  read.op = variable == function.variables.end() ? Op::kCopy : Op::kLoad;
  if (read.op == Op::kCopy) read.args = {{"", static_cast<ValueId>(std::stoul(like.substr(1)))}};
  if (read.op == Op::kLoad)
    read.place.variable = static_cast<flow::VariableId>(variable - function.variables.begin());
  dtype.op = Op::kDtypeOf;
  dtype.args = {{"", last + 1}};
  cast.op = Op::kCast;
  cast.args = {{"", value}, {"", last + 2}};
  read.result = last + 1;
  dtype.result = last + 2;
  cast.result = last + 3;
  read.range = dtype.range = cast.range = at.range;
  // A line of its own: what the cast gives is not what the instruction before it gave.
  read.range.line = dtype.range.line = cast.range.line = static_cast<int>(kMostLines) - 1;
  return {read, dtype, cast};
}

void replace_uses(Function& function, ValueId from, ValueId to) {
  for (Block& block : function.blocks) {
    for (Instruction& each : block.instructions) {
      for (flow::Argument& one : each.args) one.value = one.value == from ? to : one.value;
      if (each.place.base == from) each.place.base = to;
    }
  }
}

// False where it is no cast behind what stands on its line.
bool apply(Function& function, const Edit& edit) {
  const auto like = like_of(edit.replacement);
  if (!like) return false;
  for (Block& block : function.blocks) {
    for (std::size_t i = 0; i < block.instructions.size(); ++i) {
      const Instruction at = block.instructions[i];
      if (at.text.empty() || at.range.line != edit.range.line) continue;
      const std::size_t position = at.op == Op::kSink ? argument_at(at, edit.range.column) : at.args.size();
      const bool argument = position < at.args.size();
      const bool behind = at.op != Op::kSink && at.range.end_column == edit.range.column;
      if (!argument && !behind) continue;
      const ValueId value = argument ? at.args[position].value : at.result;
      const std::vector<Instruction> cast = cast_of(function, at, value, *like);
      if (argument) {
        block.instructions[i].args[position].value = cast.back().result;
      } else {
        replace_uses(function, value, cast.back().result);
      }
      block.instructions.insert(
          block.instructions.begin() + static_cast<std::ptrdiff_t>(argument ? i : i + 1), cast.begin(),
          cast.end());
      return true;
    }
  }
  return false;
}

// What a finding says of an operand: one of its dtypes, from where it was widened. What is wide through
// another instruction, or wrong beside it, is another finding's.
bool is_as_found(const Finding& finding, const Arrived& operand) {
  std::optional<std::size_t> widened;  // the line, of this operand or of one that it goes with
  for (const FindingOperand& each : finding.operands) {
    if (each.origin && (!widened || each.role == operand.role))
      widened = static_cast<std::size_t>(finding.path.at(*each.origin).location.line);
  }
  if (widened && !operand.tensor.supply.test(*widened)) return false;
  return std::any_of(finding.operands.begin(), finding.operands.end(), [&](const FindingOperand& each) {
    const bool of_that_dtype =
        std::any_of(each.dtypes.begin(), each.dtypes.end(),
                    [&](const std::string& dtype) { return dtype == name(operand.tensor.dtype); });
    return each.role == operand.role && of_that_dtype;
  });
}

template <typename Predicate>
Broken broken_in(const Runs& runs, const World& world, Predicate is_broken) {
  Broken out;
  for (const Run& run : runs.runs) {
    for (const auto& one : run.observations) {
      const Observation& seen = *one;
      const Api* api = contracts().named(seen.sink->name, world.torch_version, world.device);
      for (const Arrived& each : seen.operands) {
        if (is_broken(*api, seen, each, world)) out.emplace(seen.sink->range.line, each.role);
      }
    }
  }
  return out;
}
}  // namespace

void check_fixes(const Module& program, const flow::PrecisionSetting& setting, std::size_t most_runs,
                 Tally& tally, Violations& out) {
  Written own = written(program);
  Subject subject = subject_of(own.module, setting, true, most_runs);
  if (!subject.runs.dead_ends.empty() || subject.runs.all_throw) return;
  const flow::Program whole(own.module);
  std::vector<Finding> findings =
      flow::analyse(whole, flow::roots_to_analyse(whole), subject.options).findings;
  std::erase_if(findings, [](const Finding& each) { return each.certainty != Certainty::kDefinite; });
  if (findings.empty()) return;
  const auto breaks_there = [](const Api& api, const Observation& seen, const Arrived& operand,
                               const World& world) { return breaks(api, seen, operand.role, world); };
  const Broken before = broken_in(subject.runs, subject.world, breaks_there);
  flow::offer_fixes(
      own.module, whole, subject.options, [&](const std::string&) { return &own.text; }, findings);
  for (const Finding& finding : findings) {
    if (finding.fixes.empty()) continue;
    Module edited = own.module;
    const auto& edits = finding.fixes[0].edits;
    const bool all = std::all_of(edits.begin(), edits.end(),
                                 [&](const Edit& each) { return apply(edited.functions.back(), each); });
    if (!all) continue;
    ++tally.fixes;
    const Runs runs = all_runs(edited, edited.functions.back(), contracts(), subject.world, most_runs);
    const Broken after = broken_in(runs, subject.world, breaks_there);
    const Broken still =
        broken_in(runs, subject.world,
                  [&](const Api& api, const Observation& seen, const Arrived& operand, const World& world) {
                    return is_guilty(api, seen, operand.role, world) && is_as_found(finding, operand);
                  });
    const auto say = [&](int line, const std::string& role, const char* what) {
      std::string said = "line " + std::to_string(line) + " under " + setting.name + ": " + role + " " +
                         what + " with: " + finding.fixes[0].title;
      for (const Edit& each : edits) said += ", line " + std::to_string(each.range.line) + each.replacement;
      out.push_back({"fixes", said});
    };
    for (const auto& [line, role] : after) {
      if (!before.contains({line, role})) say(line, role, "begins to break");
    }
    for (const Sink& sink : finding.sinks) {
      if (still.contains({sink.location.line, sink.role})) say(sink.location.line, sink.role, "breaks still");
    }
  }
}

}  // namespace dtype_guard::oracle
