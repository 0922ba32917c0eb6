#include "sanitizer/platform/system.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string_view>

namespace dtype_guard::san {
namespace {

// By some thread, whose section then looks for the signal that came with it.
constinit std::atomic<bool> size_limit_was_hit{false};

long checked(long result) { return result < 0 ? -static_cast<long>(errno) : result; }

long noticed(long result) {
  if (result == -EFBIG) size_limit_was_hit.store(true, std::memory_order_relaxed);
  return result;
}

void fill(FileStatus& out, const struct statx& in) {
  out.identity = {std::uint64_t{in.stx_dev_major} << 32 | in.stx_dev_minor, in.stx_ino};
  out.size = in.stx_size;
  out.modified = static_cast<std::uint64_t>(in.stx_mtime.tv_sec);
  out.mode = in.stx_mode;
  out.owner = in.stx_uid;
  out.links = in.stx_nlink;
}

bool status_of(int directory, const char* path, int flags, FileStatus& status) {
  struct statx raw = {};
  if (syscall(SYS_statx, directory, path, flags, STATX_BASIC_STATS, &raw) != 0) return false;
  fill(status, raw);
  return true;
}

constinit std::atomic<const std::uint64_t*> known_id{nullptr};

long own_pid() {
  const std::uint64_t* known = known_id.load(std::memory_order_acquire);
  return known != nullptr && *known != 0 ? static_cast<long>(*known) : syscall(SYS_getpid);
}

}  // namespace

long open_file(int directory, const char* path, int flags, int mode) {
  return checked(syscall(SYS_openat, directory, path, flags, mode));
}

// Remembered: the program may leave its root, and then has no /proc to ask. Racing threads write the same.
std::size_t own_executable(char* path, std::size_t size) {
  static constinit char known[1024];
  ssize_t length = readlink("/proc/self/exe", path, size);
  if (length <= 0) length = readlink("/proc/thread-self/exe", path, size);  // the main thread has ended
  // A file that was removed, or replaced by a newer build, is known by the name that it had.
  constexpr std::string_view kGone = " (deleted)";
  FileStatus status;
  if (length > 0 && static_cast<std::size_t>(length) < size &&
      std::string_view(path, length).ends_with(kGone)) {
    path[length] = '\0';
    if (!path_status(path, status)) length -= static_cast<ssize_t>(kGone.size());
  }
  if (length > 0) {
    if (static_cast<std::size_t>(length) < sizeof known)
      memcpy(known, path, static_cast<std::size_t>(length));
    return static_cast<std::size_t>(length);
  }
  const std::size_t remembered = std::min(strnlen(known, sizeof known), size);
  memcpy(path, known, remembered);
  return remembered;
}

long read_bytes(int descriptor, void* bytes, std::size_t count) {
  return checked(syscall(SYS_read, descriptor, bytes, count));
}

long write_bytes(int descriptor, const void* bytes, std::size_t count) {
  return noticed(checked(syscall(SYS_write, descriptor, bytes, count)));
}

long resize_file(int descriptor, std::size_t size) {
  return noticed(checked(syscall(SYS_ftruncate, descriptor, size)));
}

void close_file(int descriptor) { (void)syscall(SYS_close, descriptor); }

bool file_status(int descriptor, FileStatus& status) {
  return status_of(descriptor, "", AT_EMPTY_PATH, status);
}
bool path_status(const char* path, FileStatus& status) { return status_of(AT_FDCWD, path, 0, status); }

void keep_process_id_at(const std::uint64_t* word) { known_id.store(word, std::memory_order_release); }

std::uint64_t process_id() { return static_cast<std::uint64_t>(syscall(SYS_getpid)); }
std::uint64_t thread_id() { return static_cast<std::uint64_t>(syscall(SYS_gettid)); }

std::string_view error_text(long negative_errno) {
  switch (-negative_errno) {
    case EACCES:
      return "permission denied";
    case ENOENT:
      return "no such file or directory";
    case ENOTDIR:
      return "not a directory";
    case ENOSPC:
      return "no space left on device";
    case EDQUOT:
      return "disk quota exceeded";
    case EROFS:
      return "read-only file system";
    case EFBIG:
      return "file size limit reached";
    case EMFILE:
    case ENFILE:
      return "too many open files";
    case EEXIST:
      return "exists already";
    case ELOOP:
      return "is a symbolic link";
    case EIO:
      return "input/output error";
    case ESTALE:  // ours, of a journal
      return "it was removed or replaced";
    case EPERM:
      return "operation not permitted";
    case EAGAIN:  // ours, of a record
      return "too many threads recorded at once";
    default:
      return "system error";
  }
}

// The process's id is that of its main thread, which has no memory any more when it has ended before the
// others.
static long read_own_memory(const iovec& local, const iovec* remote, std::size_t count) {
  const long got = syscall(SYS_process_vm_readv, own_pid(), &local, 1UL, remote, count, 0UL);
  if (got >= 0 || errno != ESRCH) return got;
  return syscall(SYS_process_vm_readv, syscall(SYS_gettid), &local, 1UL, remote, count, 0UL);
}

std::size_t read_some(const void* from, void* to, std::size_t count) {
  iovec local = {to, count};
  iovec remote = {const_cast<void*>(from), count};
  long got = read_own_memory(local, &remote, 1);
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

std::size_t read_pieces(const MemoryPiece* pieces, std::size_t count, void* to) {
  iovec remote[kMaxPieces];
  std::size_t size = 0;
  for (std::size_t i = 0; i < count && i < kMaxPieces; ++i) {
    remote[i] = {const_cast<void*>(pieces[i].from), pieces[i].size};
    size += pieces[i].size;
  }
  iovec local = {to, size};
  long got = read_own_memory(local, remote, count);
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

bool read_memory(const void* from, void* to, std::size_t count) {
  return read_some(from, to, count) == count;
}

bool write_memory(void* to, const void* from, std::size_t count) {
  const iovec local{const_cast<void*>(from), count}, remote{to, count};
  return syscall(SYS_process_vm_writev, process_id(), &local, 1UL, &remote, 1UL, 0UL) ==
         static_cast<long>(count);
}

QuietSection::QuietSection() : saved_errno_(errno) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &saved_mask_);
  // A pending SIGXFSZ of the program's own can only be there while it blocks that signal.
  if (sigismember(&saved_mask_, SIGXFSZ) == 1) {
    sigset_t pending;
    sigpending(&pending);
    size_signal_was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
  }
}

bool Patience::wait() {
  constexpr int kYields = 100, kPauses = 1000;  // of a second
  constexpr timespec kPause = {0, 1'000'000};
  if (++round_ <= kYields)
    sched_yield();
  else
    (void)syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &kPause, nullptr);
  return round_ < kYields + kPauses * seconds_;
}

QuietSection::~QuietSection() {
  if (size_limit_was_hit.load(std::memory_order_relaxed) && !size_signal_was_pending_) {
    sigset_t size_signal;
    sigemptyset(&size_signal);
    sigaddset(&size_signal, SIGXFSZ);
    timespec none = {};
    sigtimedwait(&size_signal, nullptr, &none);
  }
  sigprocmask(SIG_SETMASK, &saved_mask_, nullptr);
  errno = saved_errno_;
}

}  // namespace dtype_guard::san
