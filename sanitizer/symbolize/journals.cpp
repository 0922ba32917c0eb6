#include "sanitizer/symbolize/journals.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "sanitizer/protocol/journal.h"

namespace dtype_guard::san {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> list_journals(const std::string& directory, std::error_code& error) {
  std::vector<std::string> files;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error))
    if (at->path().native().ends_with(kJournalSuffix)) files.push_back(at->path().string());
  std::sort(files.begin(), files.end());
  return files;
}

// Each file once, under whatever names it is given: links to it, or its folder beside itself.
class SeenFiles {
 public:
  bool add(const std::string& file) {
    struct stat status = {};
    return stat(file.c_str(), &status) != 0 || seen_.emplace(status.st_dev, status.st_ino).second;
  }

 private:
  std::set<std::pair<dev_t, ino_t>> seen_;
};

// Two files of one process's journal: a copy, perhaps made while it was written. The longer one knows more.
bool same_journal(const Journal& left, const Journal& right) {
  return left.process && right.process && left.process->pid == right.process->pid &&
         left.process->opened_ns != 0 && left.process->opened_ns == right.process->opened_ns &&
         left.process->host == right.process->host;
}

void add_journal(std::vector<Journal>& journals, const std::string& file) {
  Journal fresh = load_journal(file);
  auto known = std::find_if(journals.begin(), journals.end(),
                            [&](const Journal& journal) { return same_journal(journal, fresh); });
  if (known == journals.end()) {
    journals.push_back(std::move(fresh));
    return;
  }
  std::error_code error;
  const bool is_longer = fs::file_size(file, error) > fs::file_size(known->file, error);
  if (is_longer) std::swap(*known, fresh);
}

Journal broken(const std::string& path, std::string problem) {
  Journal none;
  none.file = path;
  none.problems.push_back(std::move(problem));
  return none;
}

// A file that has no record in its first megabyte is none of ours, and may be of any size.
bool may_be_journal(std::string_view start) {
  constexpr std::size_t kEnough = 1 << 20;
  static_assert(kLargestFrame < kEnough / 2);
  char magic[sizeof kJournalMagic];
  std::memcpy(magic, &kJournalMagic, sizeof magic);
  return start.size() < kEnough || start.find(std::string_view(magic, sizeof magic)) != start.npos;
}

// 0, or the errno of the read that failed.
int read_all(int descriptor, std::string& bytes) {
  bool is_judged = false;
  for (std::vector<char> part(1 << 20);;) {
    const ssize_t count = read(descriptor, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    if (count == 0) return 0;
    bytes.append(part.data(), static_cast<std::size_t>(count));
    if (!is_judged && !may_be_journal(bytes)) return 0;
    is_judged = bytes.size() >= part.size();
  }
}

}  // namespace

std::vector<std::string> journal_files(const std::string& directory) {
  std::error_code error;
  return list_journals(directory, error);
}

Journal load_journal(const std::string& file) {
  const auto unreadable = [&](const std::string& problem) {
    Journal journal;
    journal.file = file;
    journal.problems.push_back(fmt::format("cannot be read: {}", problem));
    return journal;
  };
  // Reading a folder throws, and a pipe without a writer never ends.
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error) && !error) return unreadable("not a regular file");
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return unreadable(std::generic_category().message(errno));
  std::string bytes;
  const int failure = read_all(descriptor, bytes);
  close(descriptor);
  if (failure != 0) return unreadable(std::generic_category().message(failure));
  return read_journal(bytes, file);
}

std::vector<Journal> load_journals(const std::vector<std::string>& paths) {
  std::vector<Journal> journals;
  SeenFiles seen;
  for (const std::string& path : paths) {
    std::error_code error;
    fs::file_status status = fs::status(path, error);
    if (!fs::exists(status))
      throw MissingJournal{
          fmt::format("{}: {}; expected a journal or a directory of journals", path, error.message())};
    if (!fs::is_directory(status)) {
      if (seen.add(path)) add_journal(journals, path);
      continue;
    }
    std::vector<std::string> files = list_journals(path, error);
    for (const std::string& file : files)
      if (seen.add(file)) add_journal(journals, file);
    if (error) {
      journals.push_back(broken(path, fmt::format("this directory cannot be read: {}", error.message())));
    } else if (files.empty()) {
      journals.push_back(broken(
          path, fmt::format("no journal (*{}) in this directory: no process loaded a watched library, or "
                            "libdtype_san.so was not "
                            "preloaded",
                            kJournalSuffix)));
    }
  }
  return journals;
}

}  // namespace dtype_guard::san
