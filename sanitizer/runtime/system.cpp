#include "sanitizer/runtime/system.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

namespace dtype_guard::san {
namespace {

long checked(long result) { return result < 0 ? -static_cast<long>(errno) : result; }

// As a system call, since another preloaded library may have its own idea of clock_gettime.
std::uint64_t clock_ns(clockid_t clock) {
  timespec now = {};
  (void)syscall(SYS_clock_gettime, clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000U + static_cast<std::uint64_t>(now.tv_nsec);
}

void fill(FileStatus& out, const struct statx& in) {
  out.identity = {std::uint64_t{in.stx_dev_major} << 32 | in.stx_dev_minor, in.stx_ino};
  out.size = in.stx_size;
  out.modified = static_cast<std::uint64_t>(in.stx_mtime.tv_sec);
  out.mode = in.stx_mode;
  out.owner = in.stx_uid;
}

bool status_of(int directory, const char* path, int flags, FileStatus& status) {
  struct statx raw = {};
  if (syscall(SYS_statx, directory, path, flags, STATX_BASIC_STATS, &raw) != 0) return false;
  fill(status, raw);
  return true;
}

}  // namespace

long open_file(int directory, const char* path, int flags, int mode) {
  return checked(syscall(SYS_openat, directory, path, flags, mode));
}

long read_bytes(int descriptor, void* bytes, std::size_t count) {
  return checked(syscall(SYS_read, descriptor, bytes, count));
}

long write_bytes(int descriptor, const void* bytes, std::size_t count) {
  return checked(syscall(SYS_write, descriptor, bytes, count));
}

void close_file(int descriptor) { (void)syscall(SYS_close, descriptor); }

bool file_status(int descriptor, FileStatus& status) {
  return status_of(descriptor, "", AT_EMPTY_PATH, status);
}
bool path_status(const char* path, FileStatus& status) { return status_of(AT_FDCWD, path, 0, status); }

std::uint64_t process_id() { return static_cast<std::uint64_t>(syscall(SYS_getpid)); }
std::uint64_t thread_id() { return static_cast<std::uint64_t>(syscall(SYS_gettid)); }

std::uint64_t now_ns() { return clock_ns(CLOCK_REALTIME); }
std::uint64_t monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }

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
    default:
      return "system error";
  }
}

std::size_t read_some(const void* from, void* to, std::size_t count) {
  iovec local = {to, count};
  iovec remote = {const_cast<void*>(from), count};
  long got = syscall(SYS_process_vm_readv, syscall(SYS_getpid), &local, 1UL, &remote, 1UL, 0UL);
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

bool read_memory(const void* from, void* to, std::size_t count) {
  return read_some(from, to, count) == count;
}

QuietSection::QuietSection() : saved_errno_(errno) {
  sigset_t all, pending;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &saved_mask_);
  sigpending(&pending);
  size_signal_was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
}

QuietSection::~QuietSection() {
  if (!size_signal_was_pending_) {
    sigset_t pending, size_signal;
    sigpending(&pending);
    if (sigismember(&pending, SIGXFSZ) == 1) {
      sigemptyset(&size_signal);
      sigaddset(&size_signal, SIGXFSZ);
      timespec none = {};
      sigtimedwait(&size_signal, nullptr, &none);
    }
  }
  sigprocmask(SIG_SETMASK, &saved_mask_, nullptr);
  errno = saved_errno_;
}

}  // namespace dtype_guard::san
