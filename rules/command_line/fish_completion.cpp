#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rules/command_line/completions.h"
#include "rules/command_line/shell_words.h"

namespace dtype_guard {

namespace {

using Takes = OptionOutline::Takes;

// In single quotes fish knows \\ and \' alone.
std::string quoted(const std::string& text) {
  return "'" + shell::replaced(shell::replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::string values(const OptionOutline& option) {
  const std::string words = fmt::format("{}", fmt::join(option.choices, " "));
  switch (option.takes) {
    case Takes::kNothing:
      return "";
    case Takes::kChoice:
      return option.is_list ? fmt::format(" -x -a '(__fish_append , {})'", words)
                            : fmt::format(" -x -a {}", quoted(words));
    case Takes::kFile:
      return " -r -F";
    case Takes::kFolder:
      return " -x -a '(__fish_complete_directories)'";
    case Takes::kProcess:
      return " -x -a '(__fish_complete_pids)'";
    case Takes::kCommand:
      return " -x -a '(__fish_complete_subcommand)'";
    default:
      return " -x";
  }
}

std::string names(const OptionOutline& option) {
  std::string out;
  for (const std::string& name : option.names)
    out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  return out;
}

std::string options(const CommandOutline& command, const std::string& start) {
  std::string out;
  for (const OptionOutline& each : command.options) {
    if (!each.is_positional())
      out += fmt::format("{}{}{} -d {}\n", start, names(each), values(each), quoted(each.help));
    else if (each.takes != Takes::kFile)  // which fish offers by itself
      out += fmt::format("{}{}\n", start, values(each));
  }
  return out;
}

}  // namespace

std::string fish_completion(const CommandOutline& command) {
  const std::string start = "complete -c " + command.name;
  std::string out = fmt::format("# fish completion for {}, made from its options\n", command.name);
  if (command.commands.empty()) return out + options(command, start);
  const std::string all = fmt::format("{}", fmt::join(shell::command_names(command), " "));
  const std::string none = fmt::format("{} -n 'not __fish_seen_subcommand_from {}'", start, all);
  out += options(command, none);
  for (const CommandOutline& each : command.commands)
    out += fmt::format("{} -f -a {} -d {}\n", none, each.name, quoted(each.help));
  for (const CommandOutline& each : command.commands)
    out += options(each, fmt::format("{} -n '__fish_seen_subcommand_from {}'", start, each.name));
  return out;
}

}  // namespace dtype_guard
