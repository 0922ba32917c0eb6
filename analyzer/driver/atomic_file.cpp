#include "analyzer/driver/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace dtype_guard::driver {

namespace fs = std::filesystem;

namespace {

// Ctrl-C waits until the file has its name.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t held;
    sigemptyset(&held);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&held, signal);
    pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_{};
};

// errno of the first thing that failed, 0 when nothing did.
int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

int write_directly(const std::string& path, std::string_view text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return errno;
  const int problem = write_all(file, text);
  return ::close(file) != 0 && problem == 0 ? errno : problem;
}

// The file itself where the name is a link, and what it is now.
std::string resolved(const std::string& path, struct stat& now, bool& exists) {
  exists = ::stat(path.c_str(), &now) == 0;
  std::error_code error;
  const fs::path real = exists ? fs::canonical(path, error) : fs::path(path);
  return error ? path : real.string();
}

std::string words(int problem) { return problem == 0 ? "" : std::strerror(problem); }

}  // namespace

std::string write_atomically(const std::string& path, std::string_view text) {
  static std::atomic<unsigned> count = 0;
  const SignalsHeld held;
  struct stat now {};
  bool exists = false;
  const std::string target = resolved(path, now, exists);
  if (exists && !S_ISREG(now.st_mode)) return words(write_directly(path, text));
  const std::string temporary = fmt::format("{}.{}-{}.tmp", target, ::getpid(), count++);
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  // A folder in which nothing can be made may still hold a file that can be written.
  if (file < 0) return words(exists ? write_directly(path, text) : errno);
  int problem = write_all(file, text);
  // What root edits in a container stays its user's, where that can be.
  const bool kept = !exists || ::fchown(file, now.st_uid, now.st_gid) == 0;
  // Without its owner, a file must not run as another.
  if (exists) (void)::fchmod(file, now.st_mode & (kept ? 07777U : 0777U));
  if (::close(file) != 0 && problem == 0) problem = errno;
  if (problem == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) problem = errno;
  if (problem != 0) ::unlink(temporary.c_str());
  return words(problem);
}

std::string why_not_writable(const std::string& path) {
  struct stat now {};
  if (::stat(path.c_str(), &now) == 0) {
    if (S_ISDIR(now.st_mode)) return words(EISDIR);
    return ::access(path.c_str(), W_OK) == 0 ? "" : words(errno);
  }
  const std::string folder = fs::path(path).parent_path().string();
  return ::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) == 0 ? "" : words(errno);
}

}  // namespace dtype_guard::driver
