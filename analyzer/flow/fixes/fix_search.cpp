#include "analyzer/flow/fixes/fix_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "analyzer/flow/fixes/candidates.h"
#include "analyzer/flow/fixes/fix_trial.h"
#include "rules/text/utf8.h"

namespace dtype_guard::flow {
namespace {

constexpr std::size_t kTriesPerFinding = 16;

// A position some bytes into a range; only inside its first line, or at its end.
SourceLocation place(const std::string& file, int line, int column, int end_line, int end_column) {
  return {file, line, column, end_line, end_column, ""};
}

class Writer {
 public:
  Writer(const Module& module, const SourceText& text) : module_(module), text_(text) {}

  // Empty when the text does not stand as the IR says: nobody is offered such an edit.
  std::vector<Edit> edits(const std::vector<CastEdit>& casts) const {
    std::vector<Edit> out;
    for (const CastEdit& each : casts) {
      if (!write(each, out)) return {};
    }
    return out;
  }

 private:
  bool write(const CastEdit& cast, std::vector<Edit>& out) const {
    const Instruction* instruction = nullptr;
    for (const Function& function : module_.functions) {
      if (!instruction) instruction = expression_in(function, cast.range);
    }
    const std::string& file = module_.files.at(cast.range.file);
    const std::string* text = text_(file);
    const auto written = text && instruction ? expression_at(*text, *instruction) : std::nullopt;
    if (!written || file.starts_with('/')) return false;
    if (cast.kind == CastEdit::Kind::kArgument) return write_argument(cast, file, *written, out);
    const SourceRange& range = cast.range;
    if (cast.kind == CastEdit::Kind::kAssign) {
      out.push_back({place(file, range.line, range.column, range.line, range.column), cast.like + " = "});
      return true;
    }
    const std::string behind = ".to(" + cast.like + ".scalar_type())";
    const SourceLocation end =
        place(file, range.end_line, range.end_column, range.end_line, range.end_column);
    if (!needs_parentheses(*written)) {
      out.push_back({end, behind});
    } else if (range.line == range.end_line && valid_utf8(*written) == *written) {
      out.push_back({place(file, range.line, range.column, range.end_line, range.end_column),
                     fmt::format("({}){}", *written, behind)});
    } else {  // bytes that reports and YAML cannot hold are not repeated either
      out.push_back({place(file, range.line, range.column, range.line, range.column), "("});
      out.push_back({end, ")" + behind});
    }
    return true;
  }

  // Plain names only: what stands there needs no parentheses.
  static bool write_argument(const CastEdit& cast, const std::string& file, std::string_view call,
                             std::vector<Edit>& out) {
    const std::vector<ArgumentText> arguments = arguments_of(call);
    if (cast.argument >= arguments.size()) return false;
    int line = cast.range.line;
    int column = cast.range.column;
    for (std::size_t i = 0; i < arguments[cast.argument].end; ++i) {
      const bool newline = call[i] == '\n' || (call[i] == '\r' && call.substr(i, 2) != "\r\n");
      line += newline ? 1 : 0;
      column = newline ? 1 : column + 1;
    }
    out.push_back({place(file, line, column, line, column), ".to(" + cast.like + ".scalar_type())"});
    return true;
  }

  const Module& module_;
  const SourceText& text_;
};

bool is_refused(const std::vector<Edit>& edits, const std::vector<std::vector<Edit>>& refused) {
  const auto same = [](const Edit& a, const Edit& b) {
    const auto key = [](const Edit& each) {
      const SourceLocation& at = each.range;
      return std::tie(at.file, at.line, at.column, at.end_line, at.end_column, each.replacement);
    };
    return key(a) == key(b);
  };
  return std::any_of(refused.begin(), refused.end(), [&](const std::vector<Edit>& each) {
    return std::equal(each.begin(), each.end(), edits.begin(), edits.end(), same);
  });
}

bool is_worth_a_try(const Finding& finding) {
  return finding.level != Level::kNote && !finding.location.file.empty() &&
         !finding.location.file.starts_with('/');
}

}  // namespace

std::vector<UnfinishedSearch> offer_fixes(Module& module, const AnalysisOptions& options,
                                          const SourceText& text, std::vector<Finding>& findings,
                                          const std::vector<std::vector<Edit>>& refused) {
  std::vector<UnfinishedSearch> out;
  if (std::none_of(findings.begin(), findings.end(), is_worth_a_try)) return out;
  FixTrial trial(module, options);
  RoundFlow round(module);
  for (Finding& finding : findings) {
    if (!is_worth_a_try(finding)) continue;
    trial.begin(finding);
    std::size_t tries = 0;
    std::string limit;
    for (Candidate& each : Candidates(module, text, round, finding).take()) {
      if (tries++ == kTriesPerFinding) {
        limit = fmt::format("more than {} edits would have to be tried", kTriesPerFinding);
        break;
      }
      std::vector<Edit> edits = Writer(module, text).edits(each.edits);
      if (edits.empty() || is_refused(edits, refused)) continue;
      if (trial.cures(each.edits)) {
        finding.fixes = {{std::move(each.title), true, std::move(edits)}};
        break;
      }
      if (limit.empty()) limit = trial.limit();
    }
    if (finding.fixes.empty() && !limit.empty()) out.push_back({finding.location, finding.rule, limit});
  }
  return out;
}

}  // namespace dtype_guard::flow
