#include "rules/report/suppressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "rules/catalog/catalog.h"
#include "rules/report/source_files.h"

namespace dtype_guard {
namespace {

// "*" stands for any characters.
bool matches(std::string_view pattern, std::string_view id) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == id;
  if (!id.starts_with(pattern.substr(0, star))) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (std::size_t at = star; at <= id.size(); ++at) {
    if (matches(rest, id.substr(at))) return true;
  }
  return false;
}

// A comment, and which of its rules have hidden something.
struct Tracked {
  SuppressionComment comment;
  std::set<std::size_t> used;

  bool covers(int from, int to) const { return comment.first <= to && comment.last >= from; }

  bool hides(const std::string& rule) {
    for (std::size_t i = 0; i < comment.rules.size(); ++i) {
      if (!matches(comment.rules[i], rule)) continue;
      used.insert(i);
      return true;
    }
    const auto fits = [&](const std::string& glob) { return matches(glob, "dtype-" + rule); };
    return comment.general || std::any_of(comment.globs.begin(), comment.globs.end(), fits);
  }
};

class Suppressor {
 public:
  Suppressor(Report& report, const SourceReader& read, const SuppressionScope& scope)
      : report_(report), read_(read), scope_(scope) {}

  void apply() {
    std::erase_if(report_.findings, [](const Finding& finding) {
      return finding.rule == kNoReasonRule || finding.rule == kStaleRule;
    });
    std::set<std::string> files(scope_.files.begin(), scope_.files.end());
    for (Finding& finding : report_.findings) {
      if (finding.baseline == "fixed") continue;
      files.insert(finding.location.file);
      const Tracked* by = hider(finding);
      if (by != nullptr && !finding.suppression) {
        finding.suppression = Suppression{"comment", by->comment.reason, by->comment.line};
      }
    }
    std::vector<Finding> notes;
    for (const std::string& file : files) {
      if (is_analysed(file)) notes_about(file, notes);
    }
    report_.findings.insert(report_.findings.end(), notes.begin(), notes.end());
    normalise(report_);
  }

 private:
  std::vector<Tracked>& comments_in(const std::string& file) {
    const auto [entry, added] = comments_.try_emplace(file);
    if (!added || file.empty()) return entry->second;
    if (const std::optional<std::string> source = read_(file)) {
      for (SuppressionComment& comment : suppression_comments(file, *source)) {
        entry->second.push_back({std::move(comment), {}});
      }
    }
    return entry->second;
  }

  // The first comment that covers the lines and hides the rule.
  // A finding is one of each rule that fits it.
  Tracked* at(const SourceLocation& place, const Finding& finding) {
    const int last = std::max(place.line, place.end_line);
    for (Tracked& each : comments_in(place.file)) {
      if (place.line <= 0 || !each.covers(place.line, last)) continue;
      if (each.hides(finding.rule)) return &each;
      for (const std::string& rule : finding.also_rules) {
        if (each.hides(rule)) return &each;
      }
    }
    return nullptr;
  }

  // A comment at one of several calls hides the others no more than a NOLINT hides another line.
  const Tracked* hider(const Finding& finding) {
    const SourceLocation& place = finding.location;
    const Tracked* by = at(place, finding);
    bool all = !finding.sinks.empty();
    const Tracked* last = nullptr;
    for (const Sink& sink : finding.sinks) {
      last = at(sink.location, finding);
      all = all && last != nullptr;
    }
    if (by != nullptr) return by;
    return all ? last : nullptr;
  }

  // What was not looked at completely may well hold what a comment hides.
  bool is_analysed(const std::string& file) const {
    return std::none_of(report_.not_analysed.begin(), report_.not_analysed.end(),
                        [&](const NotAnalysed& entry) { return entry.file == file; });
  }

  bool ran(std::string_view pattern) const {
    if (scope_.rules.empty()) return true;
    return std::any_of(scope_.rules.begin(), scope_.rules.end(),
                       [&](const std::string& rule) { return matches(pattern, rule); });
  }

  void notes_about(const std::string& file, std::vector<Finding>& notes) {
    for (const Tracked& each : comments_in(file)) {
      const SuppressionComment& comment = each.comment;
      if (comment.rules.empty()) continue;
      if (!comment.problem.empty()) {
        notes.push_back(note(kStaleRule, file, comment, comment.problem, ""));
        continue;
      }
      if (comment.reason.empty()) {
        notes.push_back(note(kNoReasonRule, file, comment,
                             "this suppression gives no reason; write one behind it, as in "
                             "'NOLINT(dtype-<rule>): reason' or '# dtype-lint: ignore[<rule>] reason'",
                             ""));
      }
      for (std::size_t i = 0; i < comment.rules.size(); ++i) {
        if (each.used.count(i) == 0) stale(file, comment, comment.rules[i], notes);
      }
    }
  }

  void stale(const std::string& file, const SuppressionComment& comment, const std::string& rule,
             std::vector<Finding>& notes) const {
    const bool is_pattern = rule.find('*') != std::string::npos;
    if (!is_pattern && find_rule(rule) == nullptr) {
      const std::string near = nearest_rule(rule);
      notes.push_back(note(kStaleRule, file, comment,
                           fmt::format("this suppression names no rule: '{}'{}", rule,
                                       near.empty() ? "" : fmt::format(", did you mean '{}'?", near)),
                           rule));
    } else if (ran(rule)) {
      notes.push_back(note(kStaleRule, file, comment,
                           fmt::format("this suppression of '{}' hides nothing; remove it", rule), rule));
    }
  }

  static Finding note(std::string_view rule, const std::string& file, const SuppressionComment& comment,
                      std::string message, const std::string& about) {
    Finding made;
    made.rule = rule;
    made.level = Level::kNote;
    made.message = std::move(message);
    made.location = {file, comment.line, comment.column, 0, 0, ""};
    made.observed = {"static"};
    made.fingerprint = fingerprint({made.rule, file, about + comment.reason, ""});
    return made;
  }

  Report& report_;
  const SourceReader& read_;
  const SuppressionScope& scope_;
  std::map<std::string, std::vector<Tracked>> comments_;
};

}  // namespace

SourceReader source_reader(const Report& report) {
  auto files = std::make_shared<SourceFiles>(report.root);
  return [files](const std::string& file) -> std::optional<std::string> {
    const std::string* text = files->text(file);
    return text != nullptr ? std::optional<std::string>(*text) : std::nullopt;
  };
}

void apply_suppressions(Report& report, const SourceReader& read, const SuppressionScope& scope) {
  Suppressor(report, read, scope).apply();
}

}  // namespace dtype_guard
