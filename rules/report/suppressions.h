// Suppression comments: what stands in the sources, which findings it hides, and what is wrong with it. In
// C++ NOLINT, NOLINTNEXTLINE and NOLINTBEGIN/END as in clang-tidy, with our rules as dtype-<rule>; in Python
// "# dtype-lint: ignore[<rule>] reason".
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rules/report/report.h"

namespace dtype_guard {

struct SuppressionComment {
  int line = 0;  // where it stands
  int column = 0;
  int first = 0;  // lines that it covers
  int last = 0;
  std::vector<std::string> rules;  // our ids without prefix, "*" may stand for any characters
  std::vector<std::string> globs;  // of check names that need not be ours: "*-promotion"
  bool general = false;            // names no rule of ours: a bare NOLINT, NOLINT(*)
  std::string reason;
  std::string problem;  // why it hides nothing at all: BEGIN without END
};
std::vector<SuppressionComment> suppression_comments(std::string_view file, std::string_view source);

// The text of a file as the report names it; nothing when it cannot be read.
using SourceReader = std::function<std::optional<std::string>(const std::string& file)>;
// Reads below the report's root.
SourceReader source_reader(const Report& report);

struct SuppressionScope {
  std::vector<std::string> files;  // analysed, besides those that have findings
  std::vector<std::string> rules;  // that ran; empty: all. Others' comments cannot be called stale
};

// Ids of the notes about comments.
inline constexpr std::string_view kNoReasonRule = "suppression-without-reason";
inline constexpr std::string_view kStaleRule = "stale-suppression";

// Hides findings whose promoting line, or all of whose calls, a comment covers; adds notes about comments
// that have no reason, hide nothing, or name no known rule; normalises. Idempotent. A general comment
// hides too and is never reported as stale or without reason: other tools may need it.
void apply_suppressions(Report& report, const SourceReader& read, const SuppressionScope& scope = {});

}  // namespace dtype_guard
