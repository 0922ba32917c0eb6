#include "rules/notebook/logical_line.h"

#include <algorithm>

namespace dtype_guard {
namespace {

// Behind the string whose first quotation mark is at `at`. One in single marks ends with its line.
std::size_t after_string(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  const std::string_view mark =
      rest.starts_with("\"\"\"") || rest.starts_with("'''") ? rest.substr(0, 3) : rest.substr(0, 1);
  for (at += mark.size(); at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (mark.size() == 1 && text[at] == '\n') {
      return at;
    } else if (text.substr(at).starts_with(mark)) {
      return at + mark.size();
    }
  }
  return text.size();
}

// "=" of "==", "<=", ":=" and the like binds nothing, or no name of the line's own.
bool binds(std::string_view text, std::size_t at) {
  constexpr std::string_view kBefore = "=!<>:+-*/%&|^@";
  const bool alone = at == 0 || kBefore.find(text[at - 1]) == std::string_view::npos;
  return alone && (at + 1 == text.size() || text[at + 1] != '=');
}

}  // namespace

LogicalLine logical_line(std::string_view text, std::size_t at) {
  LogicalLine out;
  out.last = at;
  int depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '\n' && depth == 0) {
      ++at;
      break;
    }
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (c == '\\' && at + 1 < text.size()) {
      at += text.substr(at).starts_with("\\\r\n") ? 3 : 2;
      continue;
    }
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n' && c != '\f') out.last = at;
    if (c == '"' || c == '\'') {
      at = after_string(text, at);
      out.last = at - 1;
      continue;
    }
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && depth > 0) --depth;
    if (c == '=' && depth == 0 && !out.assigns && binds(text, at)) out.assigns = at;
    ++at;
  }
  out.end = at;
  out.asks = depth == 0 && out.last < text.size() && text[out.last] == '?';
  return out;
}

}  // namespace dtype_guard
