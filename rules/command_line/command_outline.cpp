#include "rules/command_line/command_outline.h"

#include <algorithm>

namespace dtype_guard {

namespace {

using Takes = OptionOutline::Takes;

bool speaks_of(const std::string& value, std::initializer_list<const char*> kinds) {
  return std::any_of(kinds.begin(), kinds.end(),
                     [&](const char* kind) { return value.find(kind) != std::string::npos; });
}

Takes taken_by(const CLI::Option& option, const OptionOutline& out) {
  if (option.get_items_expected_max() == 0) return Takes::kNothing;
  if (!out.choices.empty()) return Takes::kChoice;
  const std::string& value = out.is_positional() ? out.names.front() : out.value;
  if (speaks_of(value, {"PID"})) return Takes::kProcess;
  if (speaks_of(value, {"COMMAND"})) return Takes::kCommand;
  if (speaks_of(value, {"DIR"})) return Takes::kFolder;
  if (speaks_of(value, {"FILE", "PATH", "GLOB", "SOURCE", "JOURNAL"})) return Takes::kFile;
  return Takes::kWord;
}

OptionOutline outline(const CLI::Option& option, const Choices& choices) {
  OptionOutline out;
  for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
  if (out.names.empty()) out.names.push_back(option.get_name(true));
  out.help = option.get_description();
  if (option.get_items_expected_max() > 0 && !out.is_positional()) out.value = option.get_type_name();
  if (const auto known = choices.find(out.names.front()); known != choices.end()) out.choices = known->second;
  out.takes = taken_by(option, out);
  using Policy = CLI::MultiOptionPolicy;
  out.repeats = option.get_multi_option_policy() == Policy::TakeAll || option.get_items_expected_max() > 1;
  out.is_list = option.get_delimiter() == ',';
  return out;
}

}  // namespace

CommandOutline outline(const CLI::App& app, const Choices& choices) {
  CommandOutline out{app.get_name(), app.get_description(), app.get_footer(), {}, {}};
  for (const CLI::Option* each : app.get_options()) {
    const bool is_hidden = each->get_group().empty();  // from --help, and what is made of it
    if (!is_hidden) out.options.push_back(outline(*each, choices));
  }
  const auto every = [](const CLI::App*) { return true; };
  for (const CLI::App* each : app.get_subcommands(every)) out.commands.push_back(outline(*each, choices));
  return out;
}

}  // namespace dtype_guard
