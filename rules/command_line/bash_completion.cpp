#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rules/command_line/completions.h"
#include "rules/command_line/shell_words.h"

namespace dtype_guard {

namespace {

using Takes = OptionOutline::Takes;
using shell::quoted;

std::string words(const std::vector<std::string>& list) {
  return quoted(fmt::format("{}", fmt::join(list, " ")));
}

std::string answer(const OptionOutline& option) {
  switch (option.takes) {
    case Takes::kChoice:
      return fmt::format("{} {}", option.is_list ? "_dtype_guard_list" : "_dtype_guard_words",
                         words(option.choices));
    case Takes::kFile:
      return "_dtype_guard_files -f";
    case Takes::kFolder:
      return "_dtype_guard_files -d";
    case Takes::kProcess:
      return "_dtype_guard_words \"$(ps -eo pid=)\"";
    case Takes::kCommand:
      return "mapfile -t COMPREPLY < <(compgen -c -- \"$cur\")";
    default:
      return "COMPREPLY=()";
  }
}

// By command and the option before the word.
std::string values(const CommandOutline& command, const std::string& name) {
  std::string out;
  for (const OptionOutline& each : command.options) {
    if (each.is_positional() || each.takes == Takes::kNothing) continue;
    std::vector<std::string> patterns;
    for (const std::string& one : each.names) patterns.push_back(fmt::format("\"{} {}\"", name, one));
    out += fmt::format("    {}) {}; return ;;\n", fmt::join(patterns, "|"), answer(each));
  }
  return out;
}

// A word of the command itself, or of one of its commands.
std::string positional(const CommandOutline& command, const std::string& name) {
  for (const OptionOutline& each : command.options) {
    if (each.is_positional()) return fmt::format("    '{}') {} ;;\n", name, answer(each));
  }
  if (command.commands.empty()) return "";
  return fmt::format("    '{}') _dtype_guard_words {} ;;\n", name, words(shell::command_names(command)));
}

constexpr const char* kHelpers =
    R"(_dtype_guard_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"); }
_dtype_guard_list() {  # values with commas between them
  local given=
  case "$cur" in *,*) given="${cur%,*}," ;; esac
  mapfile -t COMPREPLY < <(compgen -P "$given" -W "$1" -- "${cur##*,}")
}
_dtype_guard_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$cur")
}
)";

constexpr const char* kWhere = R"(() {
  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" command= word
  if [ "$cur" = "=" ]; then
    cur=
  elif [ "$prev" = "=" ]; then
    prev="${COMP_WORDS[COMP_CWORD-2]}"
  fi
)";

constexpr const char* kCommand = R"(  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case " {} " in *" $word "*) command="$word"; break ;; esac
  done
)";

}  // namespace

std::string bash_completion(const CommandOutline& command) {
  const std::string function = shell::function_name(command.name);
  std::string out = fmt::format("# bash completion for {}, made from its options\n{}{}{}", command.name,
                                kHelpers, function, kWhere);
  if (!command.commands.empty())
    out += fmt::format(fmt::runtime(kCommand), fmt::join(shell::command_names(command), " "));
  out += "  COMPREPLY=()\n  case \"$command $prev\" in\n" + values(command, "");
  for (const CommandOutline& each : command.commands) out += values(each, each.name);
  out += "  esac\n  if [[ \"$cur\" == -* ]]; then\n    case \"$command\" in\n";
  for (const CommandOutline& each : command.commands)
    out += fmt::format("    '{}') _dtype_guard_words {} ;;\n", each.name, words(shell::option_names(each)));
  out += fmt::format("    *) _dtype_guard_words {} ;;\n    esac\n    return\n  fi\n  case \"$command\" in\n",
                     words(shell::option_names(command)));
  for (const CommandOutline& each : command.commands) out += positional(each, each.name);
  out += positional(command, "");
  return out +
         fmt::format("  esac\n}}\ncomplete -o bashdefault -o default -F {} {}\n", function, command.name);
}

}  // namespace dtype_guard
