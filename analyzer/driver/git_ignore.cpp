#include "analyzer/driver/git_ignore.h"

#include <fnmatch.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "rules/files/input_file.h"

namespace dtype_guard::driver {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> segments(std::string_view path) {
  std::vector<std::string> out;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    out.emplace_back(path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return out;
}

using Segments = std::vector<std::string>;

// "**" stands for any number of folders, behind the last slash for at least one name.
bool match(Segments::const_iterator pattern, const Segments::const_iterator& pattern_end,
           Segments::const_iterator path, const Segments::const_iterator& path_end) {
  for (; pattern != pattern_end; ++pattern, ++path) {
    if (*pattern == "**") {
      if (pattern + 1 == pattern_end) return path != path_end;
      for (auto rest = path;; ++rest) {
        if (match(pattern + 1, pattern_end, rest, path_end)) return true;
        if (rest == path_end) return false;
      }
    }
    if (path == path_end || ::fnmatch(pattern->c_str(), path->c_str(), FNM_PATHNAME) != 0) return false;
  }
  return path == path_end;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

fs::path own_ignore_file() {
  const std::string config = variable("XDG_CONFIG_HOME");
  return (config.empty() ? fs::path(variable("HOME")) / ".config" : fs::path(config)) / "git" / "ignore";
}

std::string with_slash(const fs::path& folder) {
  std::string name = folder.string();
  if (!name.ends_with('/')) name += '/';
  return name;
}

}  // namespace

bool ignore_pattern_matches(std::string_view pattern, std::string_view path) {
  const bool anchored = pattern.find('/') != std::string_view::npos;
  if (pattern.starts_with('/')) pattern.remove_prefix(1);
  Segments wanted = segments(pattern);
  if (!anchored) wanted.insert(wanted.begin(), "**");
  const Segments have = segments(path);
  return !wanted.empty() && match(wanted.begin(), wanted.end(), have.begin(), have.end());
}

GitIgnore::GitIgnore(const fs::path& folder) {
  fs::path repository;
  std::error_code error;
  for (fs::path at = folder; repository.empty(); at = at.parent_path()) {
    if (fs::exists(at / ".git", error)) repository = at;
    if (at == at.root_path() || at.empty()) break;
  }
  if (repository.empty()) return;
  stack_.push_back({with_slash(repository), read(own_ignore_file())});
  stack_.push_back({with_slash(repository), read(repository / ".git" / "info" / "exclude")});
  if (folder == repository) return;
  fs::path at = repository;
  stack_.push_back({with_slash(at), read(at / ".gitignore")});
  const fs::path below = folder.lexically_relative(repository).parent_path();
  for (const fs::path& part : below) {
    at /= part;
    stack_.push_back({with_slash(at), read(at / ".gitignore")});
  }
}

void GitIgnore::enter(const fs::path& folder) {
  stack_.push_back({with_slash(folder), read(folder / ".gitignore")});
}

void GitIgnore::leave() { stack_.pop_back(); }

bool GitIgnore::ignores(const fs::path& path, bool is_folder) const {
  const std::string name = path.string();
  for (auto each = stack_.rbegin(); each != stack_.rend(); ++each) {
    if (!name.starts_with(each->folder)) continue;
    const std::string_view below = std::string_view(name).substr(each->folder.size());
    for (auto rule = each->rules.rbegin(); rule != each->rules.rend(); ++rule) {
      if (rule->folders_only && !is_folder) continue;
      if (ignore_pattern_matches(rule->pattern, below)) return !rule->keeps;
    }
  }
  return false;
}

std::vector<GitIgnore::Rule> GitIgnore::read(const fs::path& file) {
  std::vector<Rule> rules;
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return rules;
  std::istringstream text(read_input(file).text);
  for (std::string line; std::getline(text, line);) {
    if (line.ends_with('\r')) line.pop_back();
    while (line.ends_with(' ') && !line.ends_with("\\ ")) line.pop_back();
    if (line.empty() || line.front() == '#') continue;
    Rule rule;
    if (line.front() == '!') {
      rule.keeps = true;
      line.erase(0, 1);
    }
    while (line.size() > 1 && line.ends_with('/')) {
      rule.folders_only = true;
      line.pop_back();
    }
    rule.pattern = std::move(line);
    rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace dtype_guard::driver
