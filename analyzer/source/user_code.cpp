#include "analyzer/source/user_code.h"

#include <algorithm>
#include <array>
#include <filesystem>

namespace dtype_guard::source {

namespace fs = std::filesystem;

bool matches_pattern(std::string_view text, std::string_view pattern) {
  std::size_t t = 0, p = 0, star = std::string_view::npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

namespace {
std::string normal(std::string_view path) {
  std::string text = fs::path(path).lexically_normal().string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

bool is_below(std::string_view path, std::string_view folder) {
  if (folder == "/") return path.starts_with("/");
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}
}  // namespace

UserCode::UserCode(std::string root, std::vector<std::string> external)
    : root_(normal(root)), external_(std::move(external)) {
  for (std::string& each : external_) {
    if (each.find('*') == std::string::npos) each = normal(each);
  }
}

bool UserCode::contains(std::string_view path) const {
  if (root_.empty()) return false;
  const std::string file = normal(path);
  return is_below(file, root_) && !is_external(file);
}

bool UserCode::is_external(const std::string& file) const {
  return std::any_of(external_.begin(), external_.end(), [&](const std::string& each) {
    const bool pattern = each.find('*') != std::string::npos;
    return pattern ? matches_pattern(file, each) : is_below(file, each);
  });
}

namespace {
std::string repository_of(const fs::path& file, const Exists& exists) {
  for (fs::path each = file.parent_path(); !each.empty() && each != each.root_path();
       each = each.parent_path()) {
    if (exists((each / ".git").string())) return each.string();
  }
  return {};
}

// Below /usr or /opt, or in an `include` that stands beside a `lib`.
bool is_installed(const fs::path& file, const Exists& exists) {
  const std::string text = file.string();
  if (text.starts_with("/usr/") || text.starts_with("/opt/")) return true;
  for (fs::path each = file.parent_path(); !each.empty() && each != each.root_path();
       each = each.parent_path()) {
    if (each.filename() != "include") continue;
    if (exists((each.parent_path() / "lib").string())) return true;
    if (exists((each.parent_path() / "lib64").string())) return true;
  }
  return false;
}
}  // namespace

bool exists_on_disk(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

bool UserCode::is_neighbour(std::string_view path, const Exists& exists) const {
  const std::string file = normal(path);
  if (root_.empty() || is_below(file, root_) || is_external(file) || is_installed(file, exists)) return false;
  const std::string theirs = repository_of(file, exists);
  return theirs.empty() || theirs == repository_of(fs::path(root_) / "any", exists);
}

std::string UserCode::report_name(std::string_view path) const {
  const std::string file = normal(path);
  if (root_.empty() || !is_below(file, root_) || file == root_) return file;
  return root_ == "/" ? file.substr(1) : file.substr(root_.size() + 1);
}

bool is_header(const std::string& file) {
  static constexpr std::array<std::string_view, 9> kEndings = {".h",   ".hh",  ".hpp", ".hxx", ".h++",
                                                               ".cuh", ".inl", ".inc", ".ipp"};
  const std::string ending = fs::path(file).extension().string();
  return std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end();
}

std::string project_root(const std::string& source) {
  const fs::path folder = fs::path(normal(source)).parent_path();
  for (fs::path each = folder; !each.empty(); each = each.parent_path()) {
    std::error_code error;
    if (fs::exists(each / ".git", error) || fs::exists(each / ".dtype-lint.json", error))
      return each.string();
    if (each == each.root_path()) break;
  }
  return folder.string();
}

}  // namespace dtype_guard::source
