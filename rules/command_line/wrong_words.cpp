#include "rules/command_line/wrong_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "rules/text/nearest_name.h"
#include "rules/text/printable.h"

namespace dtype_guard {

namespace {

bool is_flag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

// The subcommand that is being read, or the command itself.
const CLI::App& innermost(const CLI::App& app) {
  const std::vector<CLI::App*> read = app.get_subcommands();
  return read.empty() ? app : innermost(*read.back());
}

std::string command_of(const CLI::App& app, const CLI::App& at) {
  return &app == &at ? app.get_name() : fmt::format("{} {}", app.get_name(), at.get_name());
}

std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::Option* each : app.get_options()) {
    for (const std::string& name : each->get_lnames()) out.push_back("--" + name);
  }
  return out;
}

// CLI11's messages begin with the option.
const CLI::Option* named_by(const CLI::App& app, const std::string& message) {
  const std::string name = message.substr(0, message.find_first_of(": "));
  for (const CLI::Option* each : app.get_options()) {
    if (each->get_name() == name) return each;
  }
  return nullptr;
}

std::string wrong_count(const CLI::Option& option) {
  const std::string name = option.get_name();
  if (option.count() > 1) {
    return fmt::format("{}: given {} times ('{}'), expected once; leave the others out", name, option.count(),
                       fmt::join(option.results(), "', '"));
  }
  return fmt::format("{}: nothing stands behind it, expected {}; write {} {}", name, option.get_type_name(),
                     name, option.get_type_name());
}

std::string unexpected(const CLI::App& app, const CLI::App& at, const std::string& word) {
  if (!word.starts_with('-')) {
    return fmt::format("'{}' is one word too many; '{} --help' prints what it takes", printable(word),
                       command_of(app, at));
  }
  const std::string unknown = word.substr(0, word.find('='));
  return fmt::format("unknown option '{}'{}; '{} --help' prints them all", printable(unknown),
                     did_you_mean(unknown, names_of(at)), command_of(app, at));
}

std::string missing(const CLI::App& app, const CLI::App& at) {
  for (const CLI::Option* each : at.get_options()) {
    if (!each->get_required() || each->count() > 0) continue;
    return fmt::format("{} is missing, expected {}; write '{} {}'", each->get_name(), each->get_description(),
                       command_of(app, at), each->get_name());
  }
  std::vector<std::string> commands;
  for (const CLI::App* each : at.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back(each->get_name());
  return fmt::format("no command was given, expected {}; '{} --help' explains them",
                     fmt::join(commands, ", "), command_of(app, at));
}

}  // namespace

CLI::Validator whole_number(std::int64_t first, std::int64_t last) {
  const auto check = [first, last](const std::string& text) -> std::string {
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && stop == end && value >= first && value <= last) return "";
    return fmt::format("'{}' is no whole number from {} to {}; give one of these, or leave the option out",
                       printable(text), first, last);
  };
  return {check, "", ""};
}

void expect_values(CLI::App& app) {
  for (CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
    if (is_flag(*option) || option->get_positional()) continue;
    const auto check = [option](const std::string& text) -> std::string {
      if (!text.empty()) return "";
      return fmt::format(
          "'' is empty, expected {}; give one, or leave the option out (is a variable of the script not "
          "set?)",
          option->get_type_name());
    };
    option->check(CLI::Validator(check, "", ""));
  }
  for (CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) expect_values(*each);
}

std::string wrong_word(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* at = &app;
  for (const std::string& word : words) {
    if (word == "--") break;
    for (const CLI::App* each :
         at->get_subcommands([&](const CLI::App* sub) { return sub->get_name() == word; }))
      at = each;
    const std::size_t equals = word.find('=');
    if (!word.starts_with("--") || equals == std::string::npos) continue;
    const std::string name = word.substr(0, equals);
    const std::string value = word.substr(equals + 1);
    const CLI::Option* option = at->get_option_no_throw(name);
    if (!option) continue;
    if (is_flag(*option) && value != "true" && value != "false") {
      return fmt::format("{}: takes no value, '{}' was given; write {} alone", name, printable(value), name);
    }
    if (!is_flag(*option) && value.empty()) {
      return fmt::format("{}: nothing stands behind '=', expected {}; write {}={}", name,
                         option->get_type_name(), name, option->get_type_name());
    }
  }
  return "";
}

std::string refusal(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& at = innermost(app);
  const std::string where = &at == &app ? "" : at.get_name() + ": ";
  const std::vector<std::string> extra = app.remaining(true);
  if (!extra.empty()) return where + unexpected(app, at, extra.front());
  const std::string said = error.what();
  if (dynamic_cast<const CLI::RequiredError*>(&error)) return where + missing(app, at);
  const CLI::Option* option = named_by(at, said);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) && option) return where + wrong_count(*option);
  if (dynamic_cast<const CLI::ValidationError*>(&error)) return where + said;
  return fmt::format("{}{}; '{} --help' prints the options", where, said, command_of(app, at));
}

std::string none_of(const std::string& option, const std::string& given,
                    const std::vector<std::string>& known) {
  const std::string near = did_you_mean(given, known);
  return fmt::format("{}: '{}' is none of {}{}", option, printable(given), fmt::join(known, ", "),
                     near.empty() ? "; give one of these" : near);
}

}  // namespace dtype_guard
