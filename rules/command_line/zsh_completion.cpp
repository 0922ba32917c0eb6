#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rules/command_line/completions.h"
#include "rules/command_line/shell_words.h"

namespace dtype_guard {

namespace {

using Takes = OptionOutline::Takes;
using shell::quoted;
using shell::replaced;

// Where _arguments looks for the end of a description, and of a message.
std::string described(const std::string& text) {
  return replaced(replaced(replaced(replaced(text, "\\", "\\\\"), "[", "\\["), "]", "\\]"), ":", "\\:");
}

std::string action(const OptionOutline& option) {
  switch (option.takes) {
    case Takes::kChoice: {
      const std::string words = fmt::format("{}", fmt::join(option.choices, " "));
      return option.is_list ? fmt::format("_values -s , value {}", words) : fmt::format("({})", words);
    }
    case Takes::kFile:
      return "_files";
    case Takes::kFolder:
      return "_files -/";
    case Takes::kProcess:
      return "_pids";
    case Takes::kCommand:
      return "_normal";
    default:
      return " ";
  }
}

std::string value(const OptionOutline& option) {
  const std::string what = option.is_positional() ? option.names.front() : option.value;
  return fmt::format(":{}:{}", described(what), action(option));
}

std::string argument(const OptionOutline& option) {
  if (option.is_positional())
    return "    " + quoted((option.takes == Takes::kCommand || option.repeats ? "*" : "") +
                           (option.takes == Takes::kCommand ? ":" + value(option) : value(option)));
  std::vector<std::string> out;
  for (const std::string& name : option.names) {
    // "--name=": its value may stand behind "=" or be the next word.
    const bool takes = option.takes != Takes::kNothing;
    const std::string joined = takes && name.starts_with("--") ? name + "=" : name;
    const std::string others = option.repeats ? "*" : fmt::format("({})", fmt::join(option.names, " "));
    out.push_back("    " + quoted(fmt::format("{}{}[{}]{}", others, joined, described(option.help),
                                              takes ? value(option) : "")));
  }
  return fmt::format("{}", fmt::join(out, " \\\n"));
}

std::string arguments(const CommandOutline& command) {
  std::vector<std::string> out;
  for (const OptionOutline& each : command.options) out.push_back(argument(each));
  return fmt::format("{}", fmt::join(out, " \\\n"));
}

}  // namespace

std::string zsh_completion(const CommandOutline& command) {
  std::string out = fmt::format("#compdef {}\n# zsh completion for {}, made from its options\n\n",
                                command.name, command.name);
  if (command.commands.empty()) return out + "_arguments -s -S : \\\n" + arguments(command) + "\n";
  out += "local state line\nlocal -a commands\ncommands=(\n";
  for (const CommandOutline& each : command.commands)
    out += fmt::format("  {}\n", quoted(each.name + ":" + described(each.help)));
  out += ")\n_arguments -C -S : \\\n" + arguments(command) +
         " \\\n    '1:command:->command' \\\n    '*::argument:->argument' && return\n"
         "case $state in\ncommand) _describe command commands ;;\nargument)\n  case $line[1] in\n";
  for (const CommandOutline& each : command.commands)
    out += fmt::format("  {}) _arguments -s -S : \\\n{} ;;\n", each.name, arguments(each));
  return out + "  esac ;;\nesac\n";
}

}  // namespace dtype_guard
