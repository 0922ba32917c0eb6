#include "analyzer/flow/edits/source_text.h"

#include <algorithm>

#include "analyzer/flow/ir/mnemonics.h"
#include "rules/text/language.h"

namespace dtype_guard::flow {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// As the front end folds white space in Instruction::text.
bool begins_as(std::string_view source, std::string_view folded) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (at == folded.size()) return true;  // the rest was cut off
    if (is_blank(source[i])) {
      if (at == 0 || folded[at - 1] == ' ') continue;
      if (folded[at++] != ' ') return false;
    } else if (folded[at++] != source[i]) {
      return false;
    }
  }
  return at == folded.size();
}

// Behind a comment that begins at `i`, or `i` itself.
std::size_t behind_comment(std::string_view text, std::size_t i) {
  if (text.substr(i, 2) == "//") return std::min(text.find_first_of("\r\n", i), text.size());
  if (text.substr(i, 2) != "/*") return i;
  const std::size_t end = text.find("*/", i + 2);
  return end == std::string_view::npos ? text.size() : end + 2;
}

bool in_number(std::string_view text, std::size_t i) {
  std::size_t begin = i;
  while (begin > 0 && (is_word_part(text[begin - 1]) || text[begin - 1] == '\'')) --begin;
  return begin < i && text[begin] >= '0' && text[begin] <= '9';
}

// Behind a literal that begins at `i`, or `i` itself. The quote of 1'000 begins none.
std::size_t behind_literal(std::string_view text, std::size_t i) {
  const char quote = text[i];
  if (quote != '"' && quote != '\'') return i;
  if (quote == '\'' && in_number(text, i)) return i + 1;
  for (std::size_t at = i + 1; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == quote) {
      return at + 1;
    }
  }
  return text.size();
}

// Behind what brackets and commas mean nothing in, or `i` itself.
std::size_t behind_opaque(std::string_view text, std::size_t i) {
  const std::size_t comment = behind_comment(text, i);
  return comment != i ? comment : behind_literal(text, i);
}

bool opens(char c) { return c == '(' || c == '[' || c == '{'; }
bool closes(char c) { return c == ')' || c == ']' || c == '}'; }

// Behind the bracket that closes the one at `i`; npos when none does.
std::size_t behind_brackets(std::string_view text, std::size_t i) {
  int depth = 0;
  while (i < text.size()) {
    if (const std::size_t behind = behind_opaque(text, i); behind != i) {
      i = behind;
      continue;
    }
    depth += opens(text[i]) ? 1 : closes(text[i]) ? -1 : 0;
    ++i;
    if (depth == 0) return i;
  }
  return std::string_view::npos;
}

// Without the blanks and comments around it.
ArgumentText without_margins(std::string_view call, const ArgumentText& argument) {
  ArgumentText out{argument.end, argument.end};
  for (std::size_t i = argument.begin; i < argument.end;) {
    const std::size_t behind = is_blank(call[i]) ? i + 1 : behind_comment(call, i);
    if (behind == i) {
      if (out.begin == argument.end) out.begin = i;
      const std::size_t literal = behind_literal(call, i);
      i = literal == i ? i + 1 : literal;
      out.end = i;
    } else {
      i = behind;
    }
  }
  return out;
}

// Which of its lines are compiled depends on macros; an edit of some would break what is made of the others.
bool holds_directive(std::string_view text) {
  bool line_begins = false;
  for (const char c : text) {
    if (c == '#' && line_begins) return true;
    line_begins = c == '\n' || c == '\r' || (line_begins && is_blank(c));
  }
  return false;
}

}  // namespace

std::optional<std::size_t> offset_of(std::string_view text, int line, int column) {
  if (line < 1 || column < 1) return std::nullopt;
  std::size_t at = 0;
  for (int each = 1; each < line; ++each) {
    const std::size_t end = text.find_first_of("\r\n", at);
    if (end == std::string_view::npos) return std::nullopt;
    at = end + (text.substr(end, 2) == "\r\n" ? 2 : 1);
  }
  at += static_cast<std::size_t>(column) - 1;
  return at <= text.size() ? std::optional(at) : std::nullopt;
}

std::optional<std::string_view> expression_at(std::string_view text, const Instruction& instruction) {
  const SourceRange& range = instruction.range;
  const auto begin = offset_of(text, range.line, range.column);
  const auto end = offset_of(text, range.end_line, range.end_column);
  if (!begin || !end || *begin >= *end || instruction.text.empty()) return std::nullopt;
  const std::string_view found = text.substr(*begin, *end - *begin);
  if (holds_directive(found)) return std::nullopt;
  return begins_as(found, instruction.text) ? std::optional(found) : std::nullopt;
}

std::string dtype_spelling(std::string_view file, std::string_view name) {
  return std::string(name) + (is_python(file) ? ".dtype" : ".scalar_type()");
}

// A name, then calls, subscripts and members: everything else is put in parentheses, which never hurts.
bool needs_parentheses(std::string_view expression) {
  bool wants_name = true;
  std::size_t i = 0;
  while (i < expression.size()) {
    if (is_blank(expression[i])) {
      ++i;
    } else if (is_word_part(expression[i])) {
      if (!wants_name) return true;
      while (i < expression.size() && is_word_part(expression[i])) ++i;
      wants_name = false;
    } else if (expression.substr(i, 2) == "::" || expression.substr(i, 2) == "->") {
      i += 2;
      wants_name = true;
    } else if (expression[i] == '.') {
      ++i;
      wants_name = true;
    } else if (expression[i] == '(' || expression[i] == '[') {
      if (wants_name && (expression[i] != '(' || i != 0)) return true;
      i = behind_brackets(expression, i);
      if (i == std::string_view::npos) return true;
      wants_name = false;
    } else {
      return true;
    }
  }
  return wants_name;
}

std::vector<ArgumentText> arguments_of(std::string_view call) {
  // The last brackets at no depth: those of the call itself.
  std::size_t open = std::string_view::npos;
  for (std::size_t i = 0; i < call.size();) {
    if (opens(call[i])) {
      open = i;
      i = behind_brackets(call, i);
      if (i == std::string_view::npos) return {};
    } else {
      const std::size_t behind = behind_opaque(call, i);
      i = behind == i ? i + 1 : behind;
    }
  }
  if (open == std::string_view::npos || call[open] == '[' || !closes(call.back())) return {};
  std::vector<ArgumentText> out;
  std::size_t begin = open + 1;
  const auto add = [&](std::size_t end) {
    ArgumentText each{begin, end};
    out.push_back(without_margins(call, each));
    begin = end + 1;
  };
  for (std::size_t i = open + 1; i + 1 < call.size();) {
    if (call[i] == ',') add(i);
    const std::size_t behind = opens(call[i]) ? behind_brackets(call, i) : behind_opaque(call, i);
    i = behind == i ? i + 1 : behind;
  }
  add(call.size() - 1);
  return out;
}

}  // namespace dtype_guard::flow
