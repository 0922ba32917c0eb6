// Lowers one source file, evaluates it as dtype-lint does by default, and says as one line of JSON what it
// saw: errors, the files that functions came from, every attention call that a root reaches with the operands
// whose dtype was known, and the definite findings. silence.py adds these up, so that silence can be told
// from blindness.
//
//   attention_calls [--overlay FILE TEXT_FILE]... ROOT SOURCE [FLAG...]
//
// With --overlay, FILE is read as if it held what stands in TEXT_FILE.
#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "analyzer/clang/front_end.h"
#include "analyzer/flow/analysis.h"
#include "analyzer/flow/engine.h"

namespace {

using namespace dtype_guard;
using nlohmann::json;

bool is_known(const flow::SinkOperand& operand) {
  for (const flow::Alternative& each : operand.alternatives) {
    const bool absent = each.kind == flow::Alternative::Kind::kNone;
    const bool typed = each.kind == flow::Alternative::Kind::kTensor && each.dtype != Dtype::kUndefined;
    if (!absent && !typed) return false;
  }
  return !operand.alternatives.empty();
}

json calls_of(const flow::Module& module, const flow::AnalysisOptions& options) {
  const flow::FunctionIndex index(module);
  std::map<const flow::Instruction*, json> calls;
  for (const flow::PrecisionSetting& setting : {options.settings.back()}) {
    for (const std::uint32_t root : flow::Engine::roots(index)) {
      flow::Engine engine(index, options, setting, options.torch_versions.back());
      try {
        engine.evaluate_root(root);
      } catch (const flow::BudgetExceeded&) {
        continue;  // listed by analyse()
      }
      for (const flow::SinkRecord& record : engine.records()) {
        const flow::SourceRange& at = record.instruction->range;
        json& call = calls[record.instruction];
        if (call.is_null()) {
          call = {{"api", record.api->name},
                  {"file", at.file < module.files.size() ? module.files[at.file] : ""},
                  {"line", at.line},
                  {"column", at.column},
                  {"function", module.functions[record.function].name},
                  {"text", record.instruction->text},
                  {"operands", json::object()}};
        }
        for (const flow::SinkOperand& operand : record.operands) {
          json& known = call["operands"][operand.role];
          known = (!known.is_null() && known.get<bool>()) || is_known(operand);
        }
      }
    }
  }
  json out = json::array();
  for (const auto& [instruction, call] : calls) out.push_back(call);
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  clang_front_end::LoweringOptions lowering;
  while (words.size() > 2 && words[0] == "--overlay") {
    std::ifstream text(words[2]);
    lowering.files[words[1]] = std::string(std::istreambuf_iterator<char>(text), {});
    words.erase(words.begin(), words.begin() + 3);
  }
  if (words.size() < 2) {
    std::cerr << "usage: attention_calls [--overlay FILE TEXT_FILE]... ROOT SOURCE [FLAG...]\n";
    return 2;
  }
  clang_front_end::CompileCommand command;
  command.directory = words[0];
  command.file = words[1];
  command.arguments = {"clang++"};
  command.arguments.insert(command.arguments.end(), words.begin() + 2, words.end());
  command.arguments.push_back(command.file);
  lowering.user_code = clang_front_end::UserCode(words[0], {});
  const clang_front_end::LoweredSource lowered = clang_front_end::lower(command, lowering);

  flow::AnalysisOptions options;
  options.contracts = &builtin_contracts();
  if (!lowered.torch_version.empty()) options.torch_versions = {lowered.torch_version};
  for (const flow::PrecisionSetting& each : flow::precision_settings()) {
    if (each.by_default) options.settings.push_back(each);
  }
  json report = {{"source", words[1]},
                 {"crashed", lowered.crashed},
                 {"functions", lowered.module.functions.size()},
                 {"files", lowered.module.files},
                 {"errors", json::array()},
                 {"findings", json::array()},
                 {"not_analysed", json::array()}};
  for (const auto& each : lowered.errors) {
    report["errors"].push_back(fmt::format("{}:{}: {}", each.file, each.line, each.message));
  }
  const flow::AnalysisResult result = flow::analyse(lowered.module, options);
  for (const Finding& each : result.findings) {
    report["findings"].push_back({{"rule", each.rule},
                                  {"file", each.location.file},
                                  {"line", each.location.line},
                                  {"function", each.location.function},
                                  {"api", each.api},
                                  {"sinks", json::array()},
                                  {"precision", each.precision},
                                  {"message", each.message}});
    for (const Sink& sink : each.sinks) {
      report["findings"].back()["sinks"].push_back(
          fmt::format("{}:{}", sink.location.file, sink.location.line));
    }
  }
  for (const flow::NotLowered& each : result.not_analysed) {
    report["not_analysed"].push_back(each.function + ": " + each.reason);
  }
  report["calls"] = calls_of(lowered.module, options);
  std::cout << report.dump(-1, ' ', false, json::error_handler_t::replace) << '\n';
  return 0;
}
