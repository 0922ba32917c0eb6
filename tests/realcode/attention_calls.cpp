// Lowers one source file, or links what was lowered of many, evaluates it as dtype-lint does by default, and
// says as one line of JSON what it saw: errors, the files that functions came from, every attention call that
// a root reaches with the operands whose dtype was known, and the definite findings. silence.py adds these
// up, so that silence can be told from blindness.
//
//   attention_calls [--overlay FILE TEXT_FILE]... [--emit FLOW_FILE] ROOT SOURCE [FLAG...]
//   attention_calls --link [--of FILE]... FLOW_FILE...
//
// With --overlay, FILE is read as if it held what stands in TEXT_FILE. With --emit nothing is evaluated: what
// was lowered is written to FLOW_FILE, for --link. With --of only what runs functions of FILE is evaluated,
// for findings alone.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "analyzer/clang/front_end.h"
#include "analyzer/flow/analysis.h"
#include "analyzer/flow/engine/interpreter/engine.h"
#include "analyzer/flow/ir/text.h"
#include "analyzer/flow/program/link.h"

namespace {

using namespace dtype_guard;
using nlohmann::json;

bool is_half_always(const flow::SinkOperand& operand) {
  return flow::is_known(operand) &&
         std::all_of(operand.alternatives.begin(), operand.alternatives.end(),
                     [](const flow::Alternative& each) { return is_half(each.dtype); });
}

// What came as an operand on all ways to it: dtypes, those that rest on something unknown with "?", "none",
// "unknown".
void note_operand(json& into, const flow::SinkOperand& operand, const Api& api) {
  if (into.is_null()) {
    into = {{"known", false},
            {"half", false},
            {"dtypes", json::array()},
            {"argument", api.find(operand.role)->argument}};
  }
  into["known"] = into["known"].get<bool>() || flow::is_known(operand);
  into["half"] = into["half"].get<bool>() || is_half_always(operand);
  for (const flow::Alternative& each : operand.alternatives) {
    const bool absent = each.kind == flow::Alternative::Kind::kNone;
    const bool typed = each.kind == flow::Alternative::Kind::kTensor && each.dtype != Dtype::kUndefined;
    std::string dtype = absent ? "none" : typed ? std::string(dtype_guard::name(each.dtype)) : "unknown";
    if (typed && each.uncertain) dtype += "?";
    json& dtypes = into["dtypes"];
    if (std::find(dtypes.begin(), dtypes.end(), dtype) == dtypes.end()) dtypes.push_back(dtype);
  }
}

json calls_of(const flow::Module& module, const flow::AnalysisOptions& options) {
  const flow::Program program(module);
  std::map<const flow::Instruction*, json> calls;
  for (const flow::PrecisionSetting& setting : {options.settings.back()}) {
    for (const std::uint32_t root : flow::roots_to_analyse(program)) {
      flow::Work work;
      flow::Engine engine(program, options, setting, options.torch_versions.back(), work);
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
          note_operand(call["operands"][operand.role], operand, *record.api);
        }
      }
    }
  }
  json out = json::array();
  for (const auto& [instruction, call] : calls) out.push_back(call);
  return out;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

// The roots that run functions of these files.
std::vector<std::uint32_t> roots_through(const flow::Program& program, const std::set<std::string>& files) {
  const flow::Module& module = program.functions.module();
  std::vector<std::uint32_t> through;
  for (std::uint32_t id = 0; id < module.functions.size(); ++id) {
    const std::uint32_t file = module.functions[id].range.file;
    if (file < module.files.size() && files.count(module.files[file])) through.push_back(id);
  }
  return through.empty() ? through : flow::roots_to_analyse(program, through);
}

json seen_in(const flow::Module& module, const std::string& torch_version,
             const std::set<std::string>& files = {}) {
  flow::AnalysisOptions options;
  options.contracts = &builtin_contracts();
  if (!torch_version.empty()) options.torch_versions = {torch_version};
  for (const flow::PrecisionSetting& each : flow::precision_settings()) {
    if (each.by_default) options.settings.push_back(each);
  }
  json report = {{"functions", module.functions.size()},
                 {"files", module.files},
                 {"findings", json::array()},
                 {"not_analysed", json::array()}};
  const flow::Program program(module);
  const flow::AnalysisResult result = flow::analyse(
      program, files.empty() ? flow::roots_to_analyse(program) : roots_through(program, files), options);
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
  if (files.empty()) report["calls"] = calls_of(module, options);
  return report;
}

constexpr std::string_view kVersionLine = "// torch ";

json linked(std::vector<std::string> paths) {
  std::set<std::string> files;
  while (paths.size() > 1 && paths[0] == "--of") {
    files.insert(paths[1]);
    paths.erase(paths.begin(), paths.begin() + 2);
  }
  std::vector<flow::Module> modules;
  std::string torch_version;
  for (const std::string& path : paths) {
    const std::string text = text_of(path);
    if (text.starts_with(kVersionLine)) {
      torch_version = text.substr(kVersionLine.size(), text.find('\n') - kVersionLine.size());
    }
    modules.push_back(flow::parse(text));
  }
  return seen_in(flow::link(std::move(modules)), torch_version, files);
}

json lowered(std::vector<std::string> words) {
  clang_front_end::LoweringOptions lowering;
  std::string emitted;
  while (words.size() > 2 && (words[0] == "--overlay" || words[0] == "--emit")) {
    const bool overlay = words[0] == "--overlay";
    if (overlay) lowering.files[words[1]] = text_of(words[2]);
    if (!overlay) emitted = words[1];
    words.erase(words.begin(), words.begin() + (overlay ? 3 : 2));
  }
  if (words.size() < 2) return nullptr;
  clang_front_end::CompileCommand command;
  command.directory = words[0];
  command.file = words[1];
  command.arguments = {"clang++"};
  command.arguments.insert(command.arguments.end(), words.begin() + 2, words.end());
  command.arguments.push_back(command.file);
  lowering.user_code = clang_front_end::UserCode(words[0], {});
  const clang_front_end::LoweredSource source = clang_front_end::lower(command, lowering);
  json report =
      emitted.empty() ? seen_in(source.module, source.torch_version) : json{{"files", source.module.files}};
  if (!emitted.empty()) {
    std::ofstream(emitted) << kVersionLine << source.torch_version << '\n' << flow::print(source.module);
  }
  report["source"] = words[1];
  report["crashed"] = source.crashed;
  report["errors"] = json::array();
  for (const auto& each : source.errors) {
    report["errors"].push_back(fmt::format("{}:{}: {}", each.file, each.line, each.message));
  }
  return report;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const bool links = words.size() > 1 && words[0] == "--link";
  const json report = links ? linked({words.begin() + 1, words.end()}) : lowered(words);
  if (report.is_null()) {
    std::cerr
        << "usage: attention_calls [--overlay FILE TEXT_FILE]... [--emit FLOW_FILE] ROOT SOURCE [FLAG...]\n"
           "       attention_calls --link [--of FILE]... FLOW_FILE...\n";
    return 2;
  }
  std::cout << report.dump(-1, ' ', false, json::error_handler_t::replace) << '\n';
  return 0;
} catch (const std::exception& problem) {
  std::cerr << "attention_calls: " << problem.what() << '\n';
  return 2;
}
