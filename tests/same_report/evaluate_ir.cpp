// Evaluates stored IR in every way that a user can ask for and writes all of the answer as JSON: findings
// with their fixes, possible ones too, roots that were given up, refusals, and how many instructions were
// evaluated. Two versions of the engine that write the same answer for the same IR are the same to a user.
//
//   evaluate_ir ROOT FILE...
//
// The files are linked to one program; ROOT is the folder that the names in them are relative to.
#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "analyzer/flow/analysis.h"
#include "analyzer/flow/fixes/fix_search.h"
#include "analyzer/flow/ir/text.h"
#include "analyzer/flow/program/link.h"
#include "analyzer/flow/program/program.h"
#include "rules/report/report.h"
#include "rules/report/source_files.h"

namespace {

using namespace dtype_guard;
using nlohmann::json;

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

json refusals_of(const flow::AnalysisResult& result, const flow::Module& module) {
  json out = json::array();
  for (const flow::Refusal& each : result.refusals) {
    const SourceLocation& at = each.sink.location;
    out.push_back(fmt::format("{} under {}: {} of {} at {}:{}:{} is {}", module.functions[each.root].name,
                              each.setting, each.sink.role, each.sink.api, at.file, at.line, at.column,
                              name(each.dtype)));
  }
  return out;
}

// One answer: what was asked, what was found, what it took.
json answer(flow::Module& module, const flow::AnalysisOptions& options, const std::string& root,
            bool with_fixes) {
  const flow::Program program(module);
  flow::AnalysisResult result = flow::analyse(program, flow::roots_to_analyse(program), options);
  json unfinished = json::array();
  if (with_fixes) {
    SourceFiles disk(root);
    const flow::SourceText text = [&](const std::string& file) { return disk.text(file); };
    for (const auto& each : flow::offer_fixes(module, program, options, text, result.findings)) {
      unfinished.push_back(
          fmt::format("{}:{}: {}: {}", each.location.file, each.location.line, each.rule, each.limit));
    }
  }
  json given_up = json::array();
  for (const flow::NotLowered& each : result.not_analysed)
    given_up.push_back(each.function + ": " + each.reason);
  Report report;
  report.tool = "dtype-lint";
  report.root = root;
  report.findings = std::move(result.findings);
  normalise(report);
  std::ostringstream written;
  write_json(written, report);
  return {{"findings", json::parse(written.str()).at("findings")},
          {"not_analysed", std::move(given_up)},
          {"refusals", refusals_of(result, module)},
          {"without_fix", std::move(unfinished)},
          {"steps", result.steps},
          {"cut_short", result.cut_short}};
}

json all_answers(flow::Module& module, const std::string& root) {
  json out;
  flow::AnalysisOptions options;
  options.contracts = &builtin_contracts();
  for (const flow::PrecisionSetting& each : flow::precision_settings()) {
    options.settings = {each};
    options.settings_named_by_user = true;
    out["only " + each.name] = answer(module, options, root, false);
  }
  options.settings_named_by_user = false;
  options.settings.clear();
  for (const flow::PrecisionSetting& each : flow::precision_settings()) {
    if (each.by_default) options.settings.push_back(each);
  }
  out["as by default"] = answer(module, options, root, true);
  options.settings = flow::precision_settings();
  options.torch_versions = {"1.13", "2.13"};
  options.strict = true;
  options.refusals = true;
  out["strict, every setting, two versions"] = answer(module, options, root, true);
  options.settings = {flow::precision_settings().back(), flow::precision_settings().front()};
  options.refusals = false;
  options.device = "cpu";
  options.total_budget = 2'000;
  out["strict, on cpu, cut short"] = answer(module, options, root, false);
  return out;
}

int run(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: evaluate_ir ROOT FILE...\n";
    return 2;
  }
  std::vector<flow::Module> modules;
  for (int i = 2; i < argc; ++i) {
    try {
      modules.push_back(flow::parse(text_of(argv[i])));
    } catch (const flow::TextError& error) {
      throw std::runtime_error(fmt::format("{}: {}", argv[i], error.what()));
    }
  }
  flow::Module module = flow::link(std::move(modules));
  std::cout << all_answers(module, argv[1]).dump(1) << '\n';
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "evaluate_ir: " << error.what() << '\n';
    return 1;
  }
}
