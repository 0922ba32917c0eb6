// Order: settings, functions and files in any order give the same report.
#include <algorithm>
#include <set>
#include <tuple>

#include "analyzer/flow/program/link.h"
#include "tests/oracle/classes.h"
#include "tests/oracle/properties.h"
#include "tests/oracle/writer.h"

namespace dtype_guard::oracle {
namespace {
std::string text(const SourceLocation& where) {
  return where.file + ":" + std::to_string(where.line) + ":" + std::to_string(where.column) + " " +
         where.function;
}
std::string sorted(std::vector<std::string> all) {
  std::sort(all.begin(), all.end());
  std::string out;
  for (const std::string& each : all) out += each + " ";
  return out;
}

// All that a finding says. What lists settings or rules is a set.
std::string text(const Finding& each) {
  std::string out = each.rule + " also " + sorted(each.also_rules) + "\n" + text(each.location) + "\n" +
                    each.message + "\nin " + sorted(each.precision) +
                    (each.certainty == Certainty::kDefinite ? "definite" : "possible");
  std::vector<std::string> sinks;
  for (const Sink& sink : each.sinks)
    sinks.push_back("\nto " + sink.api + " " + sink.role + " " + text(sink.location));
  out += sorted(std::move(sinks));
  for (const PathStep& step : each.path)
    out +=
        "\n  " + text(step.location) + " " + step.op + " " + step.before + " " + step.after + " " + step.note;
  return out;
}

flow::AnalysisResult analysed(const Module& module, const std::vector<flow::PrecisionSetting>& settings,
                              bool strict) {
  flow::AnalysisOptions options;
  options.settings = settings;
  options.contracts = &contracts();
  options.strict = strict;
  return flow::analyse(module, options);
}

// The calls that each finding under one of the settings reaches. Findings are of several settings, and name
// the calls of all of them.
using Calls = std::set<std::string>;
std::vector<Calls> broken_under(const flow::AnalysisResult& result, const std::string& setting) {
  std::vector<Calls> out;
  for (const Finding& each : result.findings) {
    if (std::find(each.precision.begin(), each.precision.end(), setting) == each.precision.end()) continue;
    Calls& calls = out.emplace_back();
    for (const Sink& sink : each.sinks) calls.insert(sink.api + " " + sink.role + " " + text(sink.location));
  }
  return out;
}
bool share(const Calls& a, const Calls& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& each) { return b.contains(each); });
}

// What a report says of a setting does not hang on which others it is of.
void check_alone(const Module& module, const std::vector<flow::PrecisionSetting>& settings, bool strict,
                 const flow::AnalysisResult& all, Violations& out) {
  for (const flow::PrecisionSetting& each : settings) {
    const std::vector<Calls> beside = broken_under(all, each.name);
    const std::vector<Calls> alone = broken_under(analysed(module, {each}, strict), each.name);
    for (const auto& [some, others, where] : {std::tuple(&beside, &alone, " is not there alone"),
                                              std::tuple(&alone, &beside, " is not there beside others")}) {
      const auto lost = std::find_if(some->begin(), some->end(), [&](const Calls& one) {
        return std::none_of(others->begin(), others->end(),
                            [&](const Calls& other) { return share(one, other); });
      });
      if (lost == some->end()) continue;
      out.push_back({"order", each.name + ": a finding at " + sorted({lost->begin(), lost->end()}) + where});
      return;
    }
  }
}

std::vector<std::string> report(const flow::AnalysisResult& result) {
  std::vector<std::string> out;
  for (const Finding& each : result.findings) out.push_back(text(each));
  for (const flow::NotLowered& each : result.not_analysed) out.push_back("not analysed " + each.function);
  std::sort(out.begin(), out.end());
  return out;
}
std::vector<std::string> report(const Module& module, const std::vector<flow::PrecisionSetting>& settings,
                                bool strict) {
  return report(analysed(module, settings, strict));
}

template <class All>
void shuffle(All& all, Random& random) {
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random.below(i)]);
}

void compare(const std::string& what, const std::vector<std::string>& a, const std::vector<std::string>& b,
             Violations& out) {
  if (a == b) return;
  const auto [mine, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  out.push_back({"order", what + " in another order:\n" + (mine == a.end() ? "nothing" : *mine) +
                              "\n--- then ---\n" + (other == b.end() ? "nothing" : *other)});
}
}  // namespace

void check_order(std::uint64_t seed, const Module* program, Tally& tally, Violations& out) {
  Random random(seed);
  std::vector<Module> files = program ? std::vector<Module>{*program} : class_files(seed);
  const Module whole = flow::link(files);
  const std::vector<flow::PrecisionSetting> settings = flow::precision_settings();
  const bool strict = random.one_in(2);
  const flow::AnalysisResult result = analysed(whole, settings, strict);
  const std::vector<std::string> first = report(result);
  tally.ordered += !first.empty();

  std::vector<flow::PrecisionSetting> permuted = settings;
  shuffle(permuted, random);
  compare("settings", first, report(whole, permuted, strict), out);
  check_alone(whole, settings, strict, result, out);
  Module functions = whole;
  shuffle(functions.functions, random);
  compare("functions", first, report(functions, settings, strict), out);
  if (files.size() < 2) return;
  std::swap(files.front(), files.back());
  compare("files", first, report(flow::link(std::move(files)), settings, strict), out);
}

}  // namespace dtype_guard::oracle
