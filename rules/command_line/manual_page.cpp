#include "rules/command_line/manual_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <vector>

namespace dtype_guard {

namespace {

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

// What roff takes for itself: its escapes, dashes that it would make longer, a request at the start of a
// line.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool starts_line = out.empty() || out.back() == '\n';
    if (starts_line && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '~')
      out += "\\(ti";
    else if (c == '^')
      out += "\\(ha";
    else
      out += c;
  }
  return out;
}

std::string bold(const std::string& text) { return fmt::format("\\fB{}\\fR", roff(text)); }
std::string slanted(const std::string& text) { return fmt::format("\\fI{}\\fR", roff(text)); }

std::string entry(const OptionOutline& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names)
    names.push_back(option.is_positional() ? slanted(name) : bold(name));
  std::string head = fmt::format("{}", fmt::join(names, ", "));
  if (!option.value.empty()) head += " " + slanted(option.value);
  std::string text = fmt::format(".TP\n{}\n{}\n", head, roff(option.help));
  constexpr std::size_t kMostListed = 12;
  const bool says = !option.choices.empty() && option.help.find(option.choices.front()) != std::string::npos;
  if (!option.choices.empty() && option.choices.size() <= kMostListed && !says)
    text += fmt::format(".br\nOne of: {}.\n", roff(fmt::format("{}", fmt::join(option.choices, ", "))));
  return text;
}

std::string entries(const CommandOutline& command) {
  std::string out;
  for (const OptionOutline& each : command.options) out += entry(each);
  return out;
}

std::string synopsis(const CommandOutline& command, const std::string& before) {
  std::string out = ".B " + roff(before + command.name) + "\n[\\fIOPTIONS\\fR]";
  for (const OptionOutline& each : command.options) {
    if (each.is_positional())
      out += fmt::format("\n[{}{}]", slanted(each.names.front()), each.repeats ? " ..." : "");
  }
  return out + "\n";
}

// A paragraph that begins with "Words: " is a section of its own; lines that are indented stay as they are.
std::string footer_sections(const std::string& footer) {
  std::string out;
  std::size_t at = 0;
  while (at < footer.size()) {
    const std::size_t end = std::min(footer.find("\n\n", at), footer.size());
    std::string paragraph = footer.substr(at, end - at);
    at = std::min(footer.find_first_not_of('\n', end), footer.size());
    const std::size_t colon = paragraph.find(':');
    const bool has_title = colon != std::string::npos && colon < 40 &&
                           std::isupper(static_cast<unsigned char>(paragraph[0])) &&
                           paragraph.substr(0, colon).find_first_of("=./") == std::string::npos;
    if (has_title) {
      const std::string title = paragraph.substr(0, paragraph.find_first_of(":("));
      out += ".SH " + upper(title.substr(0, title.find_last_not_of(' ') + 1)) + "\n";
      const std::size_t text = paragraph.find_first_not_of(" \n", colon + 1);
      const bool is_block = colon + 1 < paragraph.size() && paragraph[colon + 1] == '\n';
      paragraph = is_block                    ? paragraph.substr(colon + 2)
                  : text == std::string::npos ? ""
                                              : paragraph.substr(text);
    } else {
      out += ".PP\n";
    }
    const bool is_block = paragraph.starts_with("  ");
    out += is_block ? ".nf\n" + roff(paragraph) + "\n.fi\n" : roff(paragraph) + "\n";
  }
  return out;
}

}  // namespace

std::string manual_page(const CommandOutline& command, const std::string& edition) {
  std::string out = fmt::format(".TH {} 1 \"\" \"{}\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n",
                                roff(upper(command.name)), edition, roff(command.name), roff(command.help));
  if (command.commands.empty()) out += synopsis(command, "");
  for (const CommandOutline& each : command.commands)
    out += synopsis(each, command.name + " ") + (&each == &command.commands.back() ? "" : ".br\n");
  out += ".SH OPTIONS\n" + entries(command);
  if (!command.commands.empty()) out += ".SH COMMANDS\n";
  for (const CommandOutline& each : command.commands)
    out += fmt::format(".SS {}\n{}\n{}", roff(each.name), roff(each.help), entries(each));
  return out + footer_sections(command.footer);
}

}  // namespace dtype_guard
