#include "analyzer/python/signatures.h"

#include <string_view>

namespace dtype_guard::python {

Node written_name(const Node& parameter) {
  if (const Node name = parameter.field("name")) return name;
  return parameter.is("typed_parameter") ? parameter.child(0) : parameter;
}

std::vector<std::string> parts_of_type(const Node& type) {
  std::string text;
  for (const char c : type.text()) {
    if (c != '"' && c != '\'' && c != ' ' && c != '\n' && c != '\t' && c != '\r') text += c;
  }
  std::vector<std::string> out;
  for (const std::string_view form : {"Optional[", "typing.Optional[", "Union[", "typing.Union["}) {
    if (!text.starts_with(form) || !text.ends_with("]")) continue;
    if (form.find("Optional") != std::string_view::npos) out.emplace_back("None");
    text = text.substr(form.size(), text.size() - form.size() - 1);
    break;
  }
  std::size_t begin = 0;
  int nested = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : '|';
    nested += (c == '[') - (c == ']');
    if (nested != 0 || (c != '|' && c != ',')) continue;
    if (i > begin) out.push_back(text.substr(begin, i - begin));  // a last comma has nothing behind it
    begin = i + 1;
  }
  return out;
}

}  // namespace dtype_guard::python
