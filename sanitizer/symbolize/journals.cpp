#include "sanitizer/symbolize/journals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

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

Journal load_journal(const std::string& file) {
  const auto unreadable = [&](const std::string& problem) {
    Journal journal;
    journal.file = file;
    journal.problems.push_back(fmt::format("cannot be read: {}", problem));
    return journal;
  };
  // Reading a folder throws, and a pipe that nobody writes to never ends.
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error) && !error) return unreadable("not a regular file");
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  if (!in.is_open() || in.bad()) return unreadable(std::generic_category().message(errno));
  return read_journal(bytes, file);
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
