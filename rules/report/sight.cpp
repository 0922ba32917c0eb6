#include "rules/report/sight.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "rules/report/shown_place.h"
#include "rules/text/printable.h"

namespace dtype_guard {
namespace {

using namespace std::string_view_literals;

std::string plural(std::uint64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

// Causes in the order in which they are told, with their words.
constexpr std::array kCauses = {
    std::pair{"errors"sv, "in files that could not be read wholly"sv},
    std::pair{"budget"sv, "reached only by functions over their budget"sv},
    std::pair{"outside"sv, "in code that runs outside functions"sv},
    std::pair{"unknown"sv, "where what is called is not known"sv},
    std::pair{"library"sv, "into libraries whose source is not read"sv},
};

std::string place(const UnseenCall& call) {
  const std::string of = call.detail.empty()      ? ""
                         : call.cause == "budget" ? fmt::format(" under '{}'", printable(call.detail))
                                                  : fmt::format(" of {}", printable(call.detail));
  return fmt::format("'{}'{} at {}", printable(call.name), of, shown_line(call.location));
}

}  // namespace

std::string sight(const Report& report) {
  const Summary summary = summarise(report);
  if (summary.calls == 0) return "no attention call was seen";
  const std::uint64_t decided = summary.calls - summary.undecided;
  if (summary.undecided == 0) return plural(decided, "attention call") + " checked";
  const bool listed = std::any_of(report.not_analysed.begin(), report.not_analysed.end(),
                                  [](const NotAnalysed& entry) { return entry.reason == kUndecided; });
  return fmt::format("{} checked, {} not decided{}", plural(decided, "attention call"), summary.undecided,
                     listed ? "" : " (--strict lists them)");
}

std::string unseen_calls(const Report& report) {
  constexpr std::size_t kShown = 2;  // places for each cause; the JSON report has all
  std::string causes;
  for (const auto& [cause, words] : kCauses) {
    std::vector<std::string> places;
    std::size_t count = 0;
    for (const UnseenCall& each : report.unseen) {
      if (each.cause != cause || ++count > kShown) continue;
      places.push_back(place(each));
    }
    if (count == 0) continue;
    causes += fmt::format("{} {} {} ({}{})", causes.empty() ? ":" : ",", count, words,
                          fmt::join(places, ", "), count > kShown ? ", ..." : "");
  }
  if (causes.empty()) return "";
  return plural(report.unseen.size(), "call") + " spelt like attention left no record" + causes;
}

bool is_remark(const NotAnalysed& entry) { return entry.reason == "note" || entry.reason == "ranks-differ"; }

std::string_view before_reason(const NotAnalysed& entry) { return is_remark(entry) ? "" : "not analysed: "; }

std::string left_out(const Report& report) {
  std::uint64_t files = 0;
  std::uint64_t functions = 0;
  for (const NotAnalysed& entry : report.not_analysed) {
    if (entry.reason == kUndecided || entry.reason == kNotSeen || is_remark(entry)) continue;
    ++(entry.function.empty() ? files : functions);
  }
  return (files == 0 ? "" : fmt::format(", {} not analysed", files)) +
         (functions == 0 ? "" : fmt::format(", {} left out", plural(functions, "function")));
}

std::vector<FileSight> sight_by_file(const Report& report) {
  std::map<std::string, FileSight> by_file;
  for (const std::string& file : report.files) by_file[file];
  for (const CheckedCall& call : report.calls) {
    FileSight& here = by_file[call.location.file];
    ++here.calls;
    here.undecided += call.decided() ? 0 : 1;
  }
  for (const UnseenCall& call : report.unseen) ++by_file[call.location.file].unseen;
  std::vector<FileSight> out;
  for (auto& [file, sight] : by_file) {
    sight.file = file;
    out.push_back(std::move(sight));
  }
  return out;
}

}  // namespace dtype_guard
