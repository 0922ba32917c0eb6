#include "tests/unit/flow/lint_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analyzer/flow/ir/text.h"
#include "analyzer/flow/kept_groups.h"
#include "analyzer/flow/program/program.h"
#include "analyzer/flow/threaded_analysis.h"
#include "analyzer/flow/workers.h"
#include "tests/catch.h"

namespace dtype_guard::flow {
namespace {

const ContractSet& contracts() {
  static const ContractSet set = parse_contracts(R"({
  "schema": "dtype-guard/contracts/1",
  "library": "test",
  "apis": [
    {"name": "flash", "kind": "attention", "spellings": ["flash"], "source": "here", "result_like": "q",
     "operands": [
       {"role": "q", "argument": 0, "accepts": ["float16", "bfloat16"]},
       {"role": "k", "argument": 1, "same_as": "q"},
       {"role": "v", "argument": 2, "same_as": "q"},
       {"role": "out", "argument": 3, "same_as": "q", "optional": true, "direction": "out"},
       {"role": "lse", "argument": 4, "accepts": ["float32"], "optional": true, "direction": "out"}]},
    {"name": "sdpa", "kind": "attention", "spellings": ["at::sdpa"], "source": "here", "result_like": "q",
     "autocast": {"cuda": "recasts", "cpu": "recasts"},
     "operands": [
       {"role": "q", "argument": 0, "accepts": ["float16", "bfloat16", "float32"]},
       {"role": "k", "argument": 1, "same_as": "q"},
       {"role": "v", "argument": 2, "same_as": "q"},
       {"role": "mask", "argument": 3, "accepts": ["bool", "float16", "bfloat16"], "optional": true}]},
    {"name": "rotary", "kind": "rotary", "spellings": ["rotary"], "source": "here",
     "operands": [
       {"role": "x", "argument": 0, "accepts": ["float16", "bfloat16", "float32"]},
       {"role": "cos", "argument": 1, "same_as": "x"},
       {"role": "sin", "argument": 2, "same_as": "x"}]}
  ]})",
                                                 "test.json");
  return set;
}

void number_lines(Module& module) {
  int line = 10'000;
  for (Function& function : module.functions) {
    for (Block& block : function.blocks) {
      for (Instruction& each : block.instructions) {
        if (each.range == SourceRange{}) each.range = {function.range.file, ++line, 1, line, 2};
      }
    }
  }
}

// All that a user is told, and what it took.
std::vector<std::string> told(const AnalysisResult& result) {
  std::vector<std::string> out = {fmt::format("{} {}", result.steps, result.left_out)};
  for (const Finding& each : result.findings) {
    out.push_back(fmt::format("{} {}:{} {} {} {}", each.rule, each.location.line, each.location.column,
                              each.message, fmt::join(each.precision, " "), fmt::join(each.torch, " ")));
    for (const PathStep& step : each.path)
      out.push_back(fmt::format("{}:{} {} {}", step.location.line, step.location.column, step.op, step.note));
  }
  for (const NotLowered& each : result.not_analysed) out.push_back(each.function + ": " + each.reason);
  for (const ReachedCall& each : result.calls) {
    out.push_back(fmt::format("{} {} {} {} {} {}", each.api, each.function, each.reached, each.operands,
                              fmt::join(each.unknown, " "), each.given_up));
  }
  for (const UnseenCall& each : result.unseen) out.push_back(each.name + ' ' + each.function);
  return out;
}

// Another operator in the place of one, as an edit would leave it.
std::vector<Module> edited_once(const Module& module) {
  constexpr std::size_t kMost = 3;
  std::vector<Module> out;
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    for (std::size_t j = 0; j < module.functions[i].blocks.size(); ++j) {
      const std::vector<Instruction>& all = module.functions[i].blocks[j].instructions;
      const auto found = std::find_if(all.begin(), all.end(),
                                      [](const Instruction& each) { return each.op == Op::kOperator; });
      if (found == all.end() || out.size() == kMost) continue;
      Module& edited = out.emplace_back(module);
      Instruction& changed =
          edited.functions[i].blocks[j].instructions[static_cast<std::size_t>(found - all.begin())];
      changed.name = changed.name == "softmax" ? "mul" : "softmax";
      changed.text = changed.name;
    }
  }
  return out;
}

std::vector<std::string> told_with(KeptGroups& kept, const Module& module, const AnalysisOptions& options,
                                   unsigned threads) {
  const Program program(module);
  kept.begin(program);
  Workers workers(program, threads, &kept);
  const AnalysisResult result = analyse(program, roots_to_analyse(program), options, workers);
  kept.end();
  return told(result);
}

// Several threads say what one does, and so does what an earlier run left, of this program and of others.
AnalysisResult analyse_again(const Module& module, const AnalysisOptions& options) {
  AnalysisResult out = analyse(module, options);
  const Program program(module);
  Workers three(program, 3);
  REQUIRE(told(analyse(program, roots_to_analyse(program), options, three)) == told(out));
  KeptGroups kept;
  REQUIRE(told_with(kept, module, options, 1) == told(out));
  const KeptGroups first = kept;
  REQUIRE(told_with(kept, module, options, 3) == told(out));
  for (const Module& edited : edited_once(module)) {
    KeptGroups of_first = first;
    REQUIRE(told_with(of_first, edited, options, 1) == told(analyse(edited, options)));
    REQUIRE(told_with(of_first, module, options, 1) == told(out));
  }
  return out;
}

}  // namespace

AnalysisResult lint(const std::string& text, const LintOptions& options) {
  Module module = parse("file \"f.cpp\"\n" + text);
  REQUIRE(print(parse(print(module))) == print(module));
  number_lines(module);
  AnalysisOptions how;
  for (const PrecisionSetting& each : precision_settings()) {
    const bool named =
        std::find(options.settings.begin(), options.settings.end(), each.name) != options.settings.end();
    if (options.settings.empty() ? each.by_default : named) how.settings.push_back(each);
  }
  REQUIRE((options.settings.empty() || how.settings.size() == options.settings.size()));
  how.settings_named_by_user = options.named;
  how.device = options.device;
  how.strict = options.strict;
  how.step_budget = options.step_budget;
  how.work_budget = options.work_budget;
  how.torch_versions = options.torch;
  how.contracts = &contracts();
  return analyse_again(module, how);
}

std::vector<std::string> summary(const AnalysisResult& result) {
  std::vector<std::string> out;
  for (const Finding& each : result.findings) {
    std::vector<std::string> roles;
    for (const Sink& sink : each.sinks) roles.push_back(sink.role);
    std::sort(roles.begin(), roles.end());
    const std::string line = each.location.line > 10'000 ? "?" : std::to_string(each.location.line);
    out.push_back(fmt::format("{} {} {} in {} [{}]{}", line, each.rule, fmt::join(roles, ","),
                              each.location.function, fmt::join(each.precision, " "),
                              each.certainty == Certainty::kPossible ? " possible" : ""));
  }
  return out;
}

std::vector<std::string> findings(const std::string& text, const LintOptions& options) {
  const AnalysisResult result = lint(text, options);
  CHECK(result.not_analysed.empty());
  return summary(result);
}

LintOptions all_settings() {
  LintOptions out;
  for (const PrecisionSetting& each : precision_settings()) out.settings.push_back(each.name);
  out.named = true;
  return out;
}

LintOptions all_settings_but_fp32() {
  LintOptions out = all_settings();
  out.settings.erase(std::remove(out.settings.begin(), out.settings.end(), "fp32"), out.settings.end());
  return out;
}

std::string attention_main(const std::string& body, const std::string& q, const std::string& k,
                           const std::string& v) {
  return R"(
function main main
  variables a, b, c, x, y
b0:
  %100 = const 2
  %101 = pack(%100, %100, %100, %100)
  %102 = const bfloat16
  %103 = const float32
  %1 = op randn(%101, dtype=%102) ; "q"
  %2 = op randn(%101, dtype=%102) ; "k"
  %3 = op randn(%101, dtype=%102) ; "v"
)" + body +
         fmt::format("  %200 = sink flash(q={}, k={}, v={}) ; 99:3-99:20 \"flash(q, k, v)\"\n  return\n", q,
                     k, v);
}

std::vector<std::string> findings_of_body(const std::string& body, const std::string& setting) {
  return findings(fmt::format(R"IR(
function f
  parameter q: tensor
  parameter k: tensor
  parameter flag: number "bool"
  parameter count: number "int"
  variables v
b0:
  %1 = param 0
  %2 = param 1
  %3 = param 2
  %4 = param 3
  %5 = const 2
  %6 = op dim(self=%1)
  %7 = op eq(%6, %5)
  assume %7
  %8 = op dim(self=%2)
  %9 = op eq(%8, %5)
  assume %9
  %10 = pack(%5, %5)
{}  return
)IR",
                              body),
                  {{setting}, true});
}

}  // namespace dtype_guard::flow
