#include "rules/command_line/shell_words.h"

namespace dtype_guard::shell {

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
  return text;
}

std::string function_name(const std::string& command) { return "_" + replaced(command, "-", "_"); }

std::string quoted(const std::string& text) { return "'" + replaced(text, "'", "'\\''") + "'"; }

std::vector<std::string> option_names(const CommandOutline& command) {
  std::vector<std::string> out;
  for (const OptionOutline& each : command.options) {
    if (!each.is_positional()) out.insert(out.end(), each.names.begin(), each.names.end());
  }
  return out;
}

std::vector<std::string> command_names(const CommandOutline& command) {
  std::vector<std::string> out;
  for (const CommandOutline& each : command.commands) out.push_back(each.name);
  return out;
}

}  // namespace dtype_guard::shell
