#include "analyzer/driver/spelled_calls.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "analyzer/flow/ir/mnemonics.h"
#include "rules/report/comments.h"

namespace dtype_guard::driver {

namespace {

using namespace std::string_view_literals;

// The word that ends before this position, blanks aside, or else one character.
std::string_view word_before(std::string_view code, std::size_t at) {
  while (at > 0 && (code[at - 1] == ' ' || code[at - 1] == '\t' || code[at - 1] == '\n')) --at;
  std::size_t begin = at;
  while (begin > 0 && flow::is_word_part(code[begin - 1])) --begin;
  if (begin == at && at > 0) --begin;
  return code.substr(begin, at - begin);
}

// A type or `def` stands before what is declared; before a call stands a keyword, an operator or nothing.
bool is_declared(std::string_view code, std::size_t name) {
  std::string_view before = word_before(code, name);
  while (before == ":" || before == "~") {
    // Over "Class::" to what stands before it.
    std::size_t at = static_cast<std::size_t>(before.data() - code.data());
    while (at > 0 && (code[at - 1] == ':' || flow::is_word_part(code[at - 1]))) --at;
    before = word_before(code, at);
  }
  constexpr std::array kBeforeCalls = {"return"sv, "co_return"sv, "co_await"sv, "co_yield"sv, "else"sv,
                                       "in"sv,     "not"sv,       "and"sv,      "or"sv,       "if"sv,
                                       "elif"sv,   "while"sv,     "await"sv,    "yield"sv,    "lambda"sv,
                                       "is"sv,     "assert"sv,    "throw"sv,    "case"sv,     "do"sv};
  if (before.empty()) return false;
  const bool is_word = flow::is_word_part(before.back());
  if (!is_word) return before == "&" || before == "*" || before == ">";
  return std::find(kBeforeCalls.begin(), kBeforeCalls.end(), before) == kBeforeCalls.end();
}

struct Spans {
  std::set<std::tuple<int, int, int, int>> all;
  bool hold(int line, int column) const {
    return std::any_of(all.begin(), all.end(), [&](const auto& span) {
      const auto& [from_line, from, to_line, to] = span;
      return std::tie(line, column) >= std::tie(from_line, from) &&
             std::tie(line, column) < std::tie(to_line, to);
    });
  }
};

// What of the first file of a module was lowered to calls. Beside errors an unknown constant is what they
// left of a call.
Spans lowered_spans(const FileSummary& summary) {
  Spans spans;
  const flow::Module& module = summary.module;
  for (const flow::Function& function : module.functions) {
    for (const flow::Block& block : function.blocks) {
      for (const flow::Instruction& each : block.instructions) {
        const flow::SourceRange& range = each.range;
        const bool here = range.file < module.files.size() && module.files[range.file] == summary.source;
        const bool is_call = each.op == flow::Op::kCall || each.op == flow::Op::kSink ||
                             each.op == flow::Op::kOperator || each.op == flow::Op::kObject ||
                             each.op == flow::Op::kModule || each.op == flow::Op::kClosure ||
                             (each.op == flow::Op::kConst &&
                              !(summary.failed() && std::holds_alternative<flow::Unknown>(each.constant)));
        if (here && is_call) spans.all.emplace(range.line, range.column, range.end_line, range.end_column);
      }
    }
  }
  return spans;
}

}  // namespace

std::vector<SpelledCall> spelled_calls(std::string_view code, const AttentionNames& names) {
  std::vector<SpelledCall> out;
  int line = 1;
  std::size_t line_start = 0;
  for (std::size_t at = 0; at < code.size(); ++at) {
    if (code[at] == '\n') {
      ++line;
      line_start = at + 1;
      continue;
    }
    const bool begins = flow::is_word_start(code[at]) && (at == 0 || !flow::is_word_part(code[at - 1]));
    if (!begins) continue;
    std::size_t end = at;
    while (end < code.size() && flow::is_word_part(code[end])) ++end;
    const std::string_view name = code.substr(at, end - at);
    const bool counts = end < code.size() && code[end] == '(' && names.contains(name);
    if (counts && !is_declared(code, at)) out.push_back({name, line, static_cast<int>(at - line_start) + 1});
    at = end - 1;
  }
  return out;
}

std::vector<UnseenCall> calls_not_lowered(const std::vector<FileSummary>& summaries,
                                          const ContractSet& contracts, const flow::SourceText& text) {
  const AttentionNames names(contracts);
  std::map<std::tuple<std::string, int, int>, UnseenCall> found;
  for (const FileSummary& summary : summaries) {
    const bool failed = summary.failed();
    if (!text || (!failed && !source::is_python(summary.source))) continue;
    const std::string* source = text(summary.source);
    if (!source) continue;
    const std::string code = code_of(summary.source, *source);
    const std::vector<SpelledCall> calls = spelled_calls(code, names);
    if (calls.empty()) continue;
    const Spans lowered = lowered_spans(summary);
    for (const SpelledCall& each : calls) {
      if (lowered.hold(each.line, each.column)) continue;
      const int end = each.column + static_cast<int>(each.name.size());
      UnseenCall call{std::string(each.name),
                      {summary.source, each.line, each.column, each.line, end, ""},
                      failed ? "errors" : "outside",
                      ""};
      found.try_emplace({summary.source, each.line, each.column}, std::move(call));
    }
  }
  std::vector<UnseenCall> out;
  for (auto& [place, call] : found) out.push_back(std::move(call));
  return out;
}

}  // namespace dtype_guard::driver
