// A command line as data: commands, options, what may stand behind each. Read from the declarations that
// --help prints, so that manual pages and the completions of shells have no list of their own.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

namespace dtype_guard {

// Words that an option takes, by its long name ("--color"), a positional's by its own ("RULE").
using Choices = std::map<std::string, std::vector<std::string>>;

struct OptionOutline {
  enum class Takes { kNothing, kWord, kChoice, kFile, kFolder, kProcess, kCommand };
  std::vector<std::string> names;  // "--jobs", "-j"; one without dashes is a positional
  std::string value, help;         // "N"; what --help says
  std::vector<std::string> choices;
  Takes takes = Takes::kNothing;
  bool repeats = false, is_list = false;  // is_list: several values with commas between them
  bool is_positional() const { return !names.front().starts_with('-'); }
};

struct CommandOutline {
  std::string name, help, footer;
  std::vector<OptionOutline> options;
  std::vector<CommandOutline> commands;
};

CommandOutline outline(const CLI::App& app, const Choices& choices);

}  // namespace dtype_guard
