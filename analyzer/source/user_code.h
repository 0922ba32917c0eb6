// Which files are the user's: below the project root and matched by no external pattern. Only their functions
// are analysed, and the parser skips every other body, which is where the speed comes from.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace dtype_guard::source {

// Whether a file or folder exists. The default asks the disk; a front end whose results are cached asks a
// file system that records each look-up.
using Exists = std::function<bool(const std::string& path)>;
bool exists_on_disk(const std::string& path);

class UserCode {
 public:
  UserCode() = default;
  // `external`: folders (absolute) or patterns with `*`, matched against the absolute path.
  UserCode(std::string root, std::vector<std::string> external);
  const std::string& root() const { return root_; }
  const std::vector<std::string>& external() const { return external_; }
  // `path` is absolute; "." and ".." in it are resolved textually.
  bool contains(std::string_view path) const;
  // A header outside the root that is still the user's: of the same repository or of none, neither external
  // nor installed. Its functions are evaluated where user code calls them.
  bool is_neighbour(std::string_view path, const Exists& exists = exists_on_disk) const;
  // Relative to the root when inside it, else absolute.
  std::string report_name(std::string_view path) const;

 private:
  bool is_external(const std::string& file) const;
  std::string root_;
  std::vector<std::string> external_;
};

// By its name: .h, .hpp, .cuh and their kin.
bool is_header(const std::string& file);

// The nearest folder above `source` with .git or .dtype-lint.json; without one, the folder of `source`.
std::string project_root(const std::string& source);
// `*` stands for any characters.
bool matches_pattern(std::string_view text, std::string_view pattern);

}  // namespace dtype_guard::source
