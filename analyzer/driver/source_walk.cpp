#include "analyzer/driver/source_walk.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "analyzer/driver/git_ignore.h"
#include "analyzer/source/lowered_source.h"
#include "analyzer/source/user_code.h"
#include "rules/text/language.h"

namespace dtype_guard::driver {

namespace fs = std::filesystem;

namespace {

// Folders of these names hold installed, built or cached files.
constexpr std::array<std::string_view, 12> kNever = {
    ".git", ".hg",  ".venv",        "venv",        "site-packages", "build",
    ".tox", ".nox", "node_modules", "__pycache__", ".eggs",         ".ipynb_checkpoints"};

bool is_left_out(const fs::path& folder) {
  const std::string name = folder.filename().string();
  std::error_code error;
  return std::find(kNever.begin(), kNever.end(), name) != kNever.end() ||
         fs::exists(folder / "pyvenv.cfg", error);
}

class Walk {
 public:
  Walk(const std::string& pattern, const fs::path& start) : pattern_(pattern), ignored_(start) {
    into(start);
  }

  FoundFiles found() {
    std::sort(found_.python.begin(), found_.python.end());
    std::sort(found_.cxx.begin(), found_.cxx.end());
    return std::move(found_);
  }

 private:
  // Links to folders are not followed: they lead out of the project or in circles.
  void into(const fs::path& folder) {
    ignored_.enter(folder);
    std::error_code error;
    for (fs::directory_iterator at(folder, fs::directory_options::skip_permission_denied, error), end;
         !error && at != end; at.increment(error)) {
      std::error_code gone;
      const bool is_folder = at->is_directory(gone) && !at->is_symlink(gone);
      if (is_folder) {
        if (!is_left_out(at->path()) && !ignored_.ignores(at->path(), true)) into(at->path());
      } else {
        take(*at);
      }
    }
    ignored_.leave();
  }

  void take(const fs::directory_entry& entry) {
    const std::string name = entry.path().string();
    const bool python = name.ends_with(".py") || is_notebook(name);
    if (!python && (!source::is_cxx(name) || source::is_header(name))) return;
    std::error_code gone;
    if (!source::matches_pattern(name, pattern_) || !entry.is_regular_file(gone)) return;
    if (ignored_.ignores(entry.path(), false)) return;
    (python ? found_.python : found_.cxx).push_back(name);
  }

  const std::string& pattern_;
  GitIgnore ignored_;
  FoundFiles found_;
};

}  // namespace

FoundFiles files_matching(const std::string& pattern) {
  const fs::path start = fs::path(pattern.substr(0, pattern.find('*'))).parent_path();
  return Walk(pattern, start).found();
}

}  // namespace dtype_guard::driver
