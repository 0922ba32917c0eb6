#include "rules/contracts/spelling.h"

#include <algorithm>
#include <iterator>

namespace dtype_guard {

std::string_view why_never_called(std::string_view spelling) {
  if (spelling.starts_with("::")) return "without the leading \"::\"";
  if (spelling.ends_with(">")) return "without template arguments";
  int depth = 0;  // a class has its template arguments, whatever they are: ns::Runner<unsigned int>::run
  for (std::size_t i = 0; i < spelling.size(); ++i) {
    const char c = spelling[i];
    if (c == '<') ++depth;
    if (c == '>' && depth > 0) --depth;
    if (depth > 0) continue;
    if (c == '(' || c == ')') return "without parentheses";
    if (c == ' ') return "without blanks";
    if (c != ':') continue;
    const bool pair = spelling.substr(i).starts_with("::") && !spelling.substr(i).starts_with(":::");
    if (!pair || i + 2 == spelling.size()) return "with \"::\" between its parts, such as \"ns::attend\"";
    ++i;
  }
  return {};
}

bool is_builtin_type(std::string_view name) {
  constexpr std::string_view kWords[] = {
      "void",   "bool",     "char",  "wchar_t", "char8_t",  "char16_t", "char32_t", "short",    "int", "long",
      "signed", "unsigned", "float", "double",  "_Float16", "__bf16",   "__fp16",   "__int128", "auto"};
  return std::find(std::begin(kWords), std::end(kWords), name) != std::end(kWords);
}

std::string nearest_called_name(std::string_view spelling) {
  const std::size_t call = spelling.find('(');
  std::string name(spelling.substr(0, call));
  if (name.ends_with(">")) {
    // From the '<' that the last '>' closes.
    int depth = 0;
    std::size_t from = name.size();
    do {
      --from;
      depth += name[from] == '>' ? 1 : name[from] == '<' ? -1 : 0;
    } while (depth > 0 && from > 0);
    name.erase(from);
  }
  std::string nearest;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == ' ') continue;
    if (name[i] == ':') {
      if (!nearest.empty() && !nearest.ends_with("::")) nearest += "::";
      continue;
    }
    nearest += name[i];
  }
  while (nearest.ends_with(':')) nearest.pop_back();
  return why_never_called(nearest).empty() ? nearest : "";
}

}  // namespace dtype_guard
