#include "sanitizer/symbolize/report_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string_view>
#include <system_error>

#include "rules/catalog/catalog.h"
#include "rules/text/printable.h"
#include "sanitizer/symbolize/launch_findings.h"

namespace dtype_guard::san {
namespace {

bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

// Without * a pattern is found anywhere in the text.
bool found_in(const std::string& pattern, const std::string& text) {
  return pattern.find('*') != std::string::npos ? matches(pattern, text)
                                                : text.find(pattern) != std::string::npos;
}

std::string trimmed(const std::string& text) {
  constexpr const char* kBlank = " \t\r";
  std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

bool names_a_rule(const std::string& pattern) {
  return std::any_of(catalog().begin(), catalog().end(),
                     [&](const Rule& rule) { return matches(pattern, rule.id); });
}

std::string unknown_rule(const std::string& id) {
  std::string near = nearest_rule(id);
  return fmt::format("unknown rule '{}'{}; 'dtype-san explain' lists them", id,
                     near.empty() ? "" : fmt::format(", did you mean '{}'?", near));
}

bool covers(const std::string& pattern, const std::vector<StackFrame>& frames) {
  return std::any_of(frames.begin(), frames.end(), [&](const StackFrame& frame) {
    return found_in(pattern, frame.function) || found_in(pattern, frame.file) ||
           found_in(pattern, frame.module);
  });
}

}  // namespace

std::vector<std::string> listed_words(const std::string& list) {
  std::vector<std::string> result;
  for (std::size_t start = 0; start <= list.size();) {
    std::size_t end = std::min(list.find(',', start), list.size());
    if (std::string word = trimmed(list.substr(start, end - start)); !word.empty()) result.push_back(word);
    start = end + 1;
  }
  return result;
}

ReportFilter::ReportFilter(const std::string& rules, const std::string& suppressions_file,
                           const std::string& expect) {
  for (const std::string& word : listed_words(expect)) {
    if (const auto backend = parse_backend(word))
      expected_backend_ = backend;
    else
      expected_.push_back(word);
  }
  for (const std::string& word : listed_words(rules)) {
    bool removes = word.front() == '-';
    std::string id = removes ? word.substr(1) : word;
    if (!names_a_rule(id)) throw FilterError(fmt::format("option 'rules': {}", unknown_rule(id)));
    (removes ? removed_ : kept_).push_back(id);
  }
  if (!suppressions_file.empty()) read_suppressions(suppressions_file);
}

void ReportFilter::read_suppressions(const std::string& file) {
  std::ifstream in(file);
  std::string text;
  for (int number = 1; std::getline(in, text); ++number) {
    std::size_t hash = text.find('#');
    std::string entry = trimmed(text.substr(0, hash));
    if (entry.empty()) continue;
    std::size_t colon = entry.find(':');
    std::string rule = trimmed(entry.substr(0, colon));
    std::string pattern = colon == std::string::npos ? "" : trimmed(entry.substr(colon + 1));
    if (pattern.empty())
      throw FilterError(fmt::format("{}:{}: '{}', expected RULE:PATTERN", file, number, printable(entry)));
    if (!names_a_rule(rule)) throw FilterError(fmt::format("{}:{}: {}", file, number, unknown_rule(rule)));
    lines_.push_back(
        {rule, pattern, hash == std::string::npos ? "" : trimmed(text.substr(hash + 1)), number});
  }
  if (!in.eof())
    throw FilterError(fmt::format("suppressions '{}' cannot be read: {}", file,
                                  std::generic_category().message(errno != 0 ? errno : EIO)));
}

bool ReportFilter::is_wanted(const std::string& rule) const {
  const auto any = [&](const std::vector<std::string>& list) {
    return std::any_of(list.begin(), list.end(), [&](const std::string& one) { return matches(one, rule); });
  };
  return (kept_.empty() || any(kept_)) && !any(removed_);
}

const ReportFilter::Line* ReportFilter::covering(const Finding& finding) const {
  for (const Line& line : lines_) {
    if (!matches(line.rule, finding.rule)) continue;
    if (found_in(line.pattern, finding.api) || covers(line.pattern, finding.backtrace)) return &line;
    for (const PathStep& step : finding.path)
      if (covers(line.pattern, step.backtrace)) return &line;
  }
  return nullptr;
}

void ReportFilter::apply(Report& report) const {
  std::erase_if(report.findings, [&](const Finding& finding) { return !is_wanted(finding.rule); });
  for (Finding& finding : report.findings)
    if (const Line* line = covering(finding))
      finding.suppression = Suppression{"file", line->reason, line->number};
  for (const std::string& api : expected_)
    if (auto calls = report.watched->calls.find(api);
        calls == report.watched->calls.end() || calls->second == 0)
      report.not_analysed.push_back(
          {api, "", "not-called", "expected to be called (option 'expect'), and was not"});
}

}  // namespace dtype_guard::san
