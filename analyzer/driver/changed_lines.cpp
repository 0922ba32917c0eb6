#include "analyzer/driver/changed_lines.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>

#include "analyzer/driver/usage_error.h"

namespace dtype_guard::driver {

namespace {

struct GitAnswer {
  int status = 0;
  std::string output, errors;
};

// What git writes, however much: a pipe that is full would stop it while the other one is read.
class Written {
 public:
  Written() : file_(::memfd_create("git", MFD_CLOEXEC)) {
    if (file_ < 0)
      throw UsageError(fmt::format("--diff-base: no memory for what git says: {}", std::strerror(errno)));
  }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;
  ~Written() { ::close(file_); }
  int file() const { return file_; }
  std::string text() const {
    std::string out;
    std::array<char, 1 << 16> buffer;
    for (;;) {
      const ssize_t count = ::pread(file_, buffer.data(), buffer.size(), static_cast<off_t>(out.size()));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return out;
      out.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }

 private:
  int file_;
};

GitAnswer git(const std::string& root, std::vector<std::string> words) {
  const std::vector<std::string> first = {
      "git", "-C", root, "-c", "core.fsmonitor=false", "-c", "core.quotePath=false"};
  words.insert(words.begin(), first.begin(), first.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const Written output, errors;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.file(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.file(), STDERR_FILENO);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, "git", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0)
    throw UsageError(
        fmt::format("--diff-base: git cannot be started: {}; install git, or leave the option out",
                    std::strerror(failed)));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128, output.text(), errors.text()};
}

// Git quotes a name with a quote, a backslash or a control character in it as C does.
std::string unquoted(std::string_view name) {
  if (!name.starts_with('"')) return std::string(name.substr(0, name.find('\t')));
  static constexpr std::string_view kLetters = "abtnvfr", kMeant = "\a\b\t\n\v\f\r";
  std::string out;
  for (std::size_t i = 1; i < name.size() && name[i] != '"'; ++i) {
    if (name[i] != '\\' || i + 1 >= name.size()) {
      out += name[i];
      continue;
    }
    const char escaped = name[++i];
    const std::size_t letter = kLetters.find(escaped);
    if (letter != std::string_view::npos) {
      out += kMeant[letter];
    } else if (escaped >= '0' && escaped <= '3' && i + 2 < name.size()) {
      out += static_cast<char>((escaped - '0') * 64 + (name[i + 1] - '0') * 8 + (name[i + 2] - '0'));
      i += 2;
    } else {
      out += escaped;
    }
  }
  return out;
}

// "@@ -a[,b] +c[,d] @@": the lines c to c+d-1 of now; a deletion stands between two lines, and touches both.
std::optional<std::pair<int, int>> hunk(std::string_view line) {
  const std::size_t plus = line.find(" +");
  if (!line.starts_with("@@ ") || plus == std::string_view::npos) return std::nullopt;
  const char* const end = line.data() + line.size();
  int start = 0, count = 1;
  const auto read = std::from_chars(line.data() + plus + 2, end, start);
  if (read.ec != std::errc()) return std::nullopt;
  if (read.ptr != end && *read.ptr == ',') std::from_chars(read.ptr + 1, end, count);
  return std::pair(start, start + std::max(count - 1, count == 0 ? 1 : 0));
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

ChangedLines ChangedLines::of_diff(std::string_view diff) {
  ChangedLines out;
  std::vector<std::pair<int, int>>* lines = nullptr;
  bool in_header = false;
  while (!diff.empty()) {
    const std::string_view line = diff.substr(0, diff.find('\n'));
    diff.remove_prefix(std::min(diff.size(), line.size() + 1));
    if (line.starts_with("diff ")) in_header = true;
    if (in_header && line.starts_with("+++ ")) {  // below a hunk's head, it is a line that was added
      lines = &out.files_[unquoted(line.substr(4))];
      in_header = false;
    } else if (const auto changed = hunk(line); changed && lines) {
      lines->push_back(*changed);
    }
  }
  return out;
}

ChangedLines ChangedLines::since(const std::string& revision, const std::string& root) {
  const GitAnswer diff = git(root, {"diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-prefix",
                                    "--unified=0", "--relative", "--end-of-options", revision, "--"});
  if (diff.status != 0) {
    throw UsageError(
        fmt::format("--diff-base: '{}' cannot be compared with the files below '{}': git says \"{}\"; name a "
                    "revision of the "
                    "repository that holds them, such as HEAD or origin/main",
                    revision, root, first_line(diff.errors)));
  }
  ChangedLines out = of_diff(diff.output);
  const GitAnswer untracked = git(root, {"ls-files", "--others", "--exclude-standard", "-z"});
  if (untracked.status != 0) {
    throw UsageError(
        fmt::format("--diff-base: git cannot list the new files below '{}': it says \"{}\"; see what `git "
                    "status` says there",
                    root, first_line(untracked.errors)));
  }
  for (std::size_t at = 0; at < untracked.output.size();) {
    const std::string name = untracked.output.c_str() + at;
    out.files_[name] = {{0, std::numeric_limits<int>::max()}};
    at += name.size() + 1;
  }
  return out;
}

bool ChangedLines::holds(const SourceLocation& location) const {
  const auto file = files_.find(location.file);
  if (file == files_.end()) return false;
  const int last = std::max(location.line, location.end_line);
  return std::any_of(file->second.begin(), file->second.end(), [&](const std::pair<int, int>& changed) {
    return changed.first <= last && location.line <= changed.second;
  });
}

bool ChangedLines::touches(const Finding& finding) const {
  return holds(finding.location) ||
         std::any_of(finding.path.begin(), finding.path.end(),
                     [&](const PathStep& step) { return holds(step.location); }) ||
         std::any_of(finding.sinks.begin(), finding.sinks.end(),
                     [&](const Sink& sink) { return holds(sink.location); });
}

}  // namespace dtype_guard::driver
