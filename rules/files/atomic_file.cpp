#include "rules/files/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace dtype_guard {

namespace fs = std::filesystem;

namespace {

constexpr std::array<int, 3> kEnding = {SIGINT, SIGTERM, SIGHUP};

// How many threads are writing, and the signal that is to end the process after them. A thread that begins
// counts itself before it looks for a signal, and the handler notes the signal before it looks at the count:
// one of them sees the other.
std::atomic<int> writing = 0;
std::atomic<int> ending = 0;

void die_of(int signal) {
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

void end_when_written(int signal) {
  ending = signal;
  if (writing == 0) die_of(signal);
}

// Ctrl-C waits until the file has its name, whichever thread gets it.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t held;
    sigemptyset(&held);
    for (const int signal : kEnding) sigaddset(&held, signal);
    pthread_sigmask(SIG_BLOCK, &held, &before_);
    ++writing;
    if (ending == 0) return;
    leave();
    while (true) ::pause();  // until the others are done
  }
  ~SignalsHeld() { leave(); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  void leave() {
    const bool last = --writing == 0;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    if (last && ending != 0) die_of(ending);
  }

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

std::string words(int problem) { return problem == 0 ? "" : std::strerror(problem); }

// To a pipe, a device or a descriptor. A named pipe without a reader would wait for one.
std::string write_directly(const std::string& path, std::string_view text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return errno == ENXIO ? "no process reads from it" : std::strerror(errno);
  ::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) & ~O_NONBLOCK);
  const int problem = write_all(file, text);
  const bool closed = ::close(file) == 0;
  return words(problem == 0 && !closed ? errno : problem);
}

// The space is there before a byte is changed, and what stood there comes back where writing fails all the
// same.
int replace_text(int file, std::string_view text) {
  struct stat before {};
  if (::fstat(file, &before) != 0) return errno;
  std::string old(static_cast<std::size_t>(before.st_size), '\0');
  for (std::size_t at = 0; at < old.size();) {
    const ssize_t size = ::pread(file, old.data() + at, old.size() - at, static_cast<off_t>(at));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return size < 0 ? errno : EIO;
    at += static_cast<std::size_t>(size);
  }
  const int full = text.empty() ? 0 : ::posix_fallocate(file, 0, static_cast<off_t>(text.size()));
  int problem = full == EOPNOTSUPP || full == EINVAL ? 0 : full;
  if (problem == 0) problem = write_all(file, text);
  if (problem == 0) return ::ftruncate(file, static_cast<off_t>(text.size())) == 0 ? 0 : errno;
  if (::lseek(file, 0, SEEK_SET) == 0) (void)write_all(file, old);
  (void)::ftruncate(file, before.st_size);
  return problem;
}

std::string write_in_place(const std::string& path, std::string_view text) {
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return words(errno);
  const int problem = replace_text(file, text);
  const bool closed = ::close(file) == 0;
  return words(problem == 0 && !closed ? errno : problem);
}

// Access lists and the like; the label that SELinux gives every file is given to a new one too.
bool has_attributes(const std::string& path) {
  std::array<char, 4096> names{};
  const ssize_t size = ::listxattr(path.c_str(), names.data(), names.size());
  if (size < 0) return errno == ERANGE;
  for (std::string_view rest(names.data(), static_cast<std::size_t>(size)); !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find('\0'));
    if (name != "security.selinux") return true;
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
  }
  return false;
}

// The file itself where the name is a link, and what it is now.
std::string resolved(const std::string& path, struct stat& now, bool& exists) {
  exists = ::stat(path.c_str(), &now) == 0;
  std::error_code error;
  const fs::path real = exists ? fs::canonical(path, error) : fs::path(path);
  return error ? path : real.string();
}

}  // namespace

void let_writing_end_before_signals() {
  for (const int signal : kEnding) {
    struct sigaction action {};
    // What nohup ignores stays ignored.
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = end_when_written;
    action.sa_flags = SA_RESTART;
    ::sigaction(signal, &action, nullptr);
  }
}

std::string write_atomically(const std::string& path, std::string_view text) {
  static std::atomic<unsigned> count = 0;
  struct stat now {};
  bool exists = false;
  const std::string target = resolved(path, now, exists);
  // The reader of a pipe may never go on.
  if (exists && !S_ISREG(now.st_mode)) return write_directly(path, text);
  const SignalsHeld held;
  if (exists && (now.st_nlink > 1 || has_attributes(target))) return write_in_place(target, text);
  const std::string temporary = fmt::format("{}.{}-{}.tmp", target, ::getpid(), count++);
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  // A folder in which nothing can be made may still hold a file that can be written.
  if (file < 0) return exists ? write_in_place(target, text) : words(errno);
  // What root edits in a container stays its user's, and what a group shares its owner's.
  if (exists && ::fchown(file, now.st_uid, now.st_gid) != 0) {
    ::close(file);
    ::unlink(temporary.c_str());
    return write_in_place(target, text);
  }
  int problem = write_all(file, text);
  if (exists) (void)::fchmod(file, now.st_mode & 07777U);
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

}  // namespace dtype_guard
