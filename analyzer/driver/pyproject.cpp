#include "analyzer/driver/pyproject.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <sstream>

#include "analyzer/driver/usage_error.h"
#include "rules/files/input_file.h"

namespace dtype_guard::driver {

std::optional<std::string> pyproject_settings(const std::filesystem::path& file) {
  const InputFile input = read_input(file);
  if (!input.found.empty() || input.text.find("dtype-lint") == std::string::npos) return std::nullopt;
  toml::table all;
  try {
    all = toml::parse(input.text, file.string());
  } catch (const toml::parse_error& error) {
    throw UsageError(fmt::format("{}:{}: not TOML: {}", file.string(), error.source().begin.line,
                                 std::string(error.description())));
  }
  const toml::node_view<toml::node> own = all["tool"]["dtype-lint"];
  if (!own) return std::nullopt;
  if (!own.is_table()) {
    throw UsageError(
        fmt::format("{}:{}: 'tool.dtype-lint' is no table; write [tool.dtype-lint] and members below it",
                    file.string(), own.node()->source().begin.line));
  }
  std::ostringstream text;
  text << toml::json_formatter(*own.as_table());
  return text.str();
}

}  // namespace dtype_guard::driver
