#include "sanitizer/launcher/newest_journals.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "sanitizer/launcher/message.h"
#include "sanitizer/launcher/output.h"
#include "sanitizer/symbolize/journals.h"

namespace dtype_guard::san {

namespace {

constexpr std::time_t kOneJob = 60;  // seconds

// As the library itself chooses it (journal_writer.cpp).
std::string default_folder() {
  const char* temporary = std::getenv("TMPDIR");
  return fmt::format("{}/dtype-san-{}", temporary && *temporary == '/' ? temporary : "/tmp", geteuid());
}

struct OwnFile {
  std::string file;
  std::time_t at = 0;
};

// Another user's files in a folder for all are left alone.
std::vector<OwnFile> own_files(const std::string& folder) {
  std::vector<OwnFile> out;
  for (const std::string& file : journal_files(folder)) {
    struct stat status = {};
    if (lstat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid())
      out.push_back({file, status.st_mtime});
  }
  return out;
}

}  // namespace

std::vector<std::string> newest_journals(const Options& options) {
  const std::string folder = options.journal.empty() ? default_folder() : std::string(options.journal.view());
  const std::vector<OwnFile> all = own_files(folder);
  if (all.empty())
    throw UsageError{
        fmt::format("report: no JOURNAL is named, and '{}' holds none of yours; name a journal or a "
                    "directory of them, or "
                    "watch a job with `dtype-san run`",
                    folder)};
  const std::time_t newest = std::max_element(all.begin(), all.end(), [](const OwnFile& a, const OwnFile& b) {
                               return a.at < b.at;
                             })->at;
  std::vector<std::string> taken;
  for (const OwnFile& each : all)
    if (each.at >= newest - kOneJob) taken.push_back(each.file);
  if (all.size() == 1)
    tell("report: no JOURNAL is named: '{}'", taken.front());
  else
    tell(
        "report: no JOURNAL is named: the newest in '{}' and what was written in the minute before it, {} of "
        "{}: {}",
        folder, taken.size(), all.size(),
        taken.size() == 1 ? taken.front() : fmt::format("{} to {}", taken.front(), taken.back()));
  return taken;
}

}  // namespace dtype_guard::san
