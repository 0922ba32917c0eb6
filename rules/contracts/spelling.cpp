#include "rules/contracts/spelling.h"

namespace dtype_guard {

std::string_view why_never_called(std::string_view spelling) {
  if (spelling.starts_with("::")) return "without the leading \"::\", such as \"ns::attend\"";
  if (spelling.ends_with(">"))
    return "without template arguments, such as \"ns::attend\" for ns::attend<float>";
  int depth = 0;  // a class has its template arguments, whatever they are: ns::Runner<unsigned int>::run
  for (std::size_t i = 0; i < spelling.size(); ++i) {
    const char c = spelling[i];
    if (c == '<') ++depth;
    if (c == '>' && depth > 0) --depth;
    if (depth > 0) continue;
    if (c == '(' || c == ')') return "without parentheses, such as \"ns::attend\"";
    if (c == ' ') return "without blanks, such as \"ns::attend\"";
    if (c != ':') continue;
    const bool pair = spelling.substr(i).starts_with("::") && !spelling.substr(i).starts_with(":::");
    if (!pair || i + 2 == spelling.size()) return "with \"::\" between its parts, such as \"ns::attend\"";
    ++i;
  }
  return {};
}

}  // namespace dtype_guard
