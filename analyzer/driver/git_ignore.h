// Which files git ignores, by its own rules (gitignore(5)): .gitignore of each folder, .git/info/exclude and
// the user's own file. Git itself is not run: a repository's configuration can name programs for it to start.
// A file that is tracked although a pattern matches it counts as ignored.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace dtype_guard::driver {

// Whether a pattern of gitignore matches a path below the pattern's folder; both without a leading slash.
bool ignore_pattern_matches(std::string_view pattern, std::string_view path);

class GitIgnore {
 public:
  // For what is below `folder`, with the rules of all folders above it up to the repository's; without a
  // repository around it there are none but those that enter() finds.
  explicit GitIgnore(const std::filesystem::path& folder);
  // Adds the rules of a folder that is walked into; leave() takes them back.
  void enter(const std::filesystem::path& folder);
  void leave();
  bool ignores(const std::filesystem::path& path, bool is_folder) const;

 private:
  struct Rule {
    std::string pattern;
    bool keeps = false;  // began with "!"
    bool folders_only = false;
  };
  struct Rules {
    std::string folder;  // with a slash behind it
    std::vector<Rule> rules;
  };
  static std::vector<Rule> read(const std::filesystem::path& file);

  std::vector<Rules> stack_;  // the outermost first: later rules win
};

}  // namespace dtype_guard::driver
