// The table [tool.dtype-lint] of a pyproject.toml: the members of .dtype-lint.json, in TOML.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace dtype_guard::driver {

inline constexpr const char* kPyprojectName = "pyproject.toml";

// The table as the JSON text that says the same; nothing where the file has no such table. A file that does
// not name dtype-lint at all is not read as TOML, so that what is wrong with it is none of ours. Throws
// UsageError.
std::optional<std::string> pyproject_settings(const std::filesystem::path& file);

}  // namespace dtype_guard::driver
