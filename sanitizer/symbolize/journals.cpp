#include "sanitizer/symbolize/journals.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "sanitizer/runtime/journal.h"

namespace dtype_guard::san {

namespace fs = std::filesystem;

std::vector<std::string> journal_files(const std::string& directory) {
  std::vector<std::string> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error))
    if (entry.path().native().ends_with(kJournalSuffix)) files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<Journal> load_journals(const std::vector<std::string>& paths) {
  std::vector<Journal> journals;
  for (const std::string& path : paths) {
    std::error_code error;
    fs::file_status status = fs::status(path, error);
    if (!fs::exists(status))
      throw MissingJournal{
          fmt::format("{}: {}; expected a journal or a directory of journals", path, error.message())};
    if (!fs::is_directory(status)) {
      journals.push_back(load_journal(path));
      continue;
    }
    std::vector<std::string> files = journal_files(path);
    for (const std::string& file : files) journals.push_back(load_journal(file));
    if (files.empty()) {
      Journal none;
      none.file = path;
      none.problems.push_back(
          fmt::format("no journal (*{}) in this directory: no process loaded a watched library, or "
                      "libdtype_san.so was not "
                      "preloaded",
                      kJournalSuffix));
      journals.push_back(std::move(none));
    }
  }
  return journals;
}

}  // namespace dtype_guard::san
