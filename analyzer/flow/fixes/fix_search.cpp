#include "analyzer/flow/fixes/fix_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "analyzer/flow/fixes/candidates.h"
#include "analyzer/flow/fixes/fix_trial.h"
#include "rules/text/utf8.h"

namespace dtype_guard::flow {
namespace {

constexpr std::size_t kTriesPerFinding = 16;
// Where a finding is cured only while others are, as many of their fixes are made with its own.
constexpr std::size_t kFixesBeside = 4;

// A position some bytes into a range; only inside its first line, or at its end.
SourceLocation place(const std::string& file, int line, int column, int end_line, int end_column) {
  return {file, line, column, end_line, end_column, ""};
}

class Writer {
 public:
  Writer(const Module& module, const SourceText& text) : module_(module), text_(text) {}

  // Empty when the text does not stand as the IR says: such an edit is not offered.
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
    const std::string behind = behind_it(file, cast);
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
    out.push_back({place(file, line, column, line, column), behind_it(file, cast)});
    return true;
  }

  static std::string behind_it(std::string_view file, const CastEdit& cast) {
    return ".to(" + (cast.names_dtype ? cast.like : dtype_spelling(file, cast.like)) + ")";
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

// Two edits that a report cannot hold side by side.
bool touch(const Edit& a, const Edit& b) {
  const auto begin = [](const Edit& each) { return std::pair(each.range.line, each.range.column); };
  const auto end = [](const Edit& each) { return std::pair(each.range.end_line, each.range.end_column); };
  return a.range.file == b.range.file && begin(a) <= end(b) && begin(b) <= end(a);
}

// Both come by one place before the call that refuses them: there, or at that call where nothing is before
// it.
bool meet(const Finding& a, const Finding& b) {
  const auto places = [](const Finding& finding) {
    std::set<std::tuple<std::string, int, int>> out;
    for (const PathStep& each : finding.path) {
      out.emplace(each.location.file, each.location.line, each.location.column);
    }
    const auto is_call = [](const PathStep& each) { return each.op == "call"; };
    const bool handed_on = std::any_of(finding.path.begin(), finding.path.end(), is_call);
    const SourceLocation& last = finding.path.back().location;
    if (handed_on) out.erase({last.file, last.line, last.column});
    return out;
  };
  if (a.path.empty() || b.path.empty()) return false;
  const auto one = places(a);
  const auto other = places(b);
  return std::any_of(one.begin(), one.end(), [&](const auto& each) { return other.contains(each); });
}

// Why there is no edit to try, and what is left to do.
std::string nothing_to_edit(const Finding& finding) {
  const Sink sink = finding.sinks.empty() ? Sink{} : finding.sinks.front();
  if (finding.path.size() < 2 || sink.role.empty())
    return "nothing was widened on the way that could be cast back; which dtype it is to have is decided "
           "where the model or the tensor is made";
  const SourceLocation& made = finding.path.front().location;
  const std::string where = fmt::format("{}:{}", made.file, made.line);
  if (finding.path.front().before.empty())
    return fmt::format(
        "'{}' of '{}' is written into, or no tensor with a name is beside it at the call: make "
        "it in the right dtype at {}",
        sink.role, sink.api, where);
  return fmt::format(
      "nothing there can be cast to the dtype of a tensor with a name: keep the dtype in a "
      "variable before {}, and cast '{}' of '{}' to it",
      where, sink.role, sink.api);
}

class Search {
 public:
  Search(Module& module, const Program& program, const AnalysisOptions& options, const SourceText& text,
         std::vector<Finding>& findings, const std::vector<std::vector<Edit>>& refused)
      : module_(module),
        text_(text),
        findings_(findings),
        refused_(refused),
        trial_(module, program, options),
        round_(module),
        offered_(findings.size()),
        limits_(findings.size()),
        objections_(findings.size()) {}

  std::vector<UnfinishedSearch> run() {
    for (std::size_t i = 0; i < findings_.size(); ++i) {
      if (is_worth_a_try(findings_[i])) offer(i, {});
    }
    offer_beside_what_is_offered();
    bool more = false;
    for (std::size_t i = 0; i < findings_.size(); ++i) {
      if (is_worth_a_try(findings_[i]) && findings_[i].fixes.empty()) more = offer_together(i) || more;
    }
    if (more) offer_beside_what_is_offered();
    std::vector<UnfinishedSearch> out;
    for (std::size_t i = 0; i < findings_.size(); ++i) {
      const Finding& each = findings_[i];
      if (each.fixes.empty() && (!limits_[i].empty() || !objections_[i].empty()))
        out.push_back({each.location, each.rule, limits_[i], objections_[i]});
    }
    return out;
  }

 private:
  // Once for what each finding meets: one that is offered here may be what another waits for.
  void offer_beside_what_is_offered() {
    std::vector<std::vector<std::size_t>> tried(findings_.size());
    for (bool more = true; more;) {
      more = false;
      for (std::size_t i = 0; i < findings_.size(); ++i) {
        if (!is_worth_a_try(findings_[i]) || !findings_[i].fixes.empty()) continue;
        const std::vector<std::size_t> others = met_by(i);
        if (others == tried[i]) continue;
        tried[i] = others;
        more = offer(i, others) || more;
      }
    }
  }

  // Those that have a fix of their own; what is offered with others holds theirs.
  std::vector<std::size_t> met_by(std::size_t which) const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < findings_.size() && out.size() < kFixesBeside; ++i) {
      if (offered_[i].empty() || !meet(findings_[which], findings_[i])) continue;
      const bool same = std::any_of(out.begin(), out.end(),
                                    [&](std::size_t each) { return offered_[each] == offered_[i]; });
      if (!same) out.push_back(i);
    }
    return out;
  }

  std::vector<CastEdit> with(const std::vector<std::size_t>& others, const Candidate& candidate) const {
    std::vector<CastEdit> out = candidate.edits;
    for (const std::size_t other : others) {
      for (const CastEdit& each : offered_[other]) {
        if (std::find(out.begin(), out.end(), each) == out.end()) out.push_back(each);
      }
    }
    return out;
  }

  // Of what could be edited for it the first, and what casts most at once.
  std::vector<Candidate> best_two(std::size_t which) {
    std::vector<Candidate> all = Candidates(module_, text_, round_, findings_[which]).take();
    if (all.size() < 2) return all;
    const auto fewer = [](const Candidate& a, const Candidate& b) { return a.edits.size() < b.edits.size(); };
    const auto most = std::max_element(all.begin() + 1, all.end(), fewer);
    return {all.front(), *most};
  }

  // Findings that have no fix of their own and meet this one, by their number.
  std::vector<std::pair<std::size_t, std::vector<Candidate>>> waiting_beside(std::size_t which) {
    std::vector<std::pair<std::size_t, std::vector<Candidate>>> out;
    for (std::size_t other = 0; other < findings_.size() && out.size() < kFixesBeside; ++other) {
      const Finding& beside = findings_[other];
      if (other == which || !beside.fixes.empty() || !is_worth_a_try(beside)) continue;
      if (!meet(findings_[which], beside)) continue;
      if (std::vector<Candidate> theirs = best_two(other); !theirs.empty())
        out.emplace_back(other, std::move(theirs));
    }
    return out;
  }

  // Several that have no fix of their own may be cured together: operands of one call that wants them equal,
  // or what is widened once and arrives at two calls.
  bool offer_together(std::size_t which) {
    const std::vector<Candidate> own = best_two(which);
    const auto waiting = own.empty() ? decltype(waiting_beside(which))() : waiting_beside(which);
    trial_.begin(findings_[which]);
    std::vector<std::size_t> all;
    for (const auto& [other, theirs] : waiting) {
      all.push_back(other);
      offered_[other] = theirs.front().edits;
    }
    bool done = all.size() > 1 && offer_with(which, all, own.front());
    for (const auto& [other, theirs] : waiting) {
      for (const Candidate& each : theirs) {
        offered_[other] = each.edits;
        for (const Candidate& mine : own) done = done || offer_with(which, {other}, mine);
      }
    }
    for (const std::size_t other : all) offered_[other].clear();  // they are offered it when they meet it
    return done;
  }

  bool offer_with(std::size_t which, std::vector<std::size_t> others, const Candidate& own) {
    const std::vector<CastEdit> casts = with(others, own);
    const std::vector<Edit> edits = written(casts);
    if (casts.size() == own.edits.size() || edits.empty() || is_refused(edits, refused_)) return false;
    if (!trial_.cures(casts)) return false;
    drop_needless(others, own);
    findings_[which].fixes = {{title(own, others), true, written(with(others, own))}};
    offered_[which] = with(others, own);
    return true;
  }

  // What is written: nothing when it does not stand there, or cannot stand side by side.
  std::vector<Edit> written(const std::vector<CastEdit>& casts) const {
    const std::vector<Edit> edits = Writer(module_, text_).edits(casts);
    for (std::size_t i = 0; casts.size() > 1 && i < edits.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        if (touch(edits[i], edits[k])) return {};
      }
    }
    return edits;
  }

  std::string title(const Candidate& candidate, const std::vector<std::size_t>& others) const {
    std::string out = candidate.title;
    for (const std::size_t other : others) {
      const SourceLocation& at = findings_[other].location;
      out += fmt::format("{} that of {}:{}:{}", other == others.front() ? ", with" : " and", at.file, at.line,
                         at.column);
    }
    return out;
  }

  // No more of the others than it needs.
  void drop_needless(std::vector<std::size_t>& others, const Candidate& candidate) {
    for (std::size_t i = others.size(); i-- > 0;) {
      std::vector<std::size_t> fewer = others;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      const std::vector<CastEdit> casts = with(fewer, candidate);
      const std::vector<Edit> edits = written(casts);
      if (!edits.empty() && !is_refused(edits, refused_) && trial_.cures(casts)) others = std::move(fewer);
    }
  }

  // The first candidate that cures the finding while the fixes of the others are made.
  bool offer(std::size_t which, std::vector<std::size_t> others) {
    Finding& finding = findings_[which];
    trial_.begin(finding);
    std::size_t tries = 0;
    for (const Candidate& each : Candidates(module_, text_, round_, finding).take()) {
      if (tries++ == kTriesPerFinding) {
        limits_[which] = fmt::format("more than {} edits would have to be tried", kTriesPerFinding);
        return false;
      }
      const std::vector<Edit> edits = written(with(others, each));
      if (edits.empty() || is_refused(edits, refused_)) continue;
      if (trial_.cures(with(others, each))) {
        if (!others.empty()) drop_needless(others, each);
        finding.fixes = {{title(each, others), true, written(with(others, each))}};
        offered_[which] = with(others, each);
        return true;
      }
      if (limits_[which].empty()) limits_[which] = trial_.limit();
      if (objections_[which].empty() && !trial_.objection().empty())
        objections_[which] = fmt::format("tried: {}: {}", each.title, trial_.objection());
    }
    if (tries == 0 && objections_[which].empty()) objections_[which] = nothing_to_edit(finding);
    return false;
  }

  Module& module_;
  const SourceText& text_;
  std::vector<Finding>& findings_;
  const std::vector<std::vector<Edit>>& refused_;
  FixTrial trial_;
  RoundFlow round_;
  std::vector<std::vector<CastEdit>> offered_;    // by finding
  std::vector<std::string> limits_, objections_;  // likewise
};

}  // namespace

std::vector<UnfinishedSearch> offer_fixes(Module& module, const Program& program,
                                          const AnalysisOptions& options, const SourceText& text,
                                          std::vector<Finding>& findings,
                                          const std::vector<std::vector<Edit>>& refused) {
  if (std::none_of(findings.begin(), findings.end(), is_worth_a_try)) return {};
  return Search(module, program, options, text, findings, refused).run();
}

}  // namespace dtype_guard::flow
