// The kernel services that the preloaded library uses. They go through syscall(): no cancellation points,
// none of glibc's newer symbol versions, and nothing that another preloaded library interposes.
#pragma once

#include <signal.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dtype_guard::san {

struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};
struct FileStatus {
  FileIdentity identity;
  std::uint64_t size = 0;
  std::uint64_t modified = 0;  // s since 1970
  std::uint32_t mode = 0;
  std::uint32_t owner = 0;
  std::uint32_t links = 0;
};

// Descriptors and sizes on success, -errno on failure.
long open_file(int directory, const char* path, int flags, int mode);
long read_bytes(int descriptor, void* bytes, std::size_t count);
// Beyond the file size limit these two send SIGXFSZ: only inside a QuietSection, which swallows it.
long write_bytes(int descriptor, const void* bytes, std::size_t count);
long resize_file(int descriptor, std::size_t size);
void close_file(int descriptor);
// The program's path, 0 when it cannot be told.
std::size_t own_executable(char* path, std::size_t size);
bool file_status(int descriptor, FileStatus& status);
bool path_status(const char* path, FileStatus& status);

std::uint64_t process_id();
// From now on that word, which a forked child finds wiped, holds the process's id or 0: reads of memory then
// need no system call to ask for it, which a filter of the job might not allow.
void keep_process_id_at(const std::uint64_t* word);
std::uint64_t thread_id();
std::string_view error_text(long negative_errno);

// Copies from an address that may be bad: false instead of a fault.
bool read_memory(const void* from, void* to, std::size_t count);
// As much as can be read from there; gives its size.
std::size_t read_some(const void* from, void* to, std::size_t count);

// Copies to an address that may be bad or read-only: false then.
bool write_memory(void* to, const void* from, std::size_t count);

// Several places at once, one after the other into `to`; gives the bytes before the first that cannot be
// read.
struct MemoryPiece {
  const void* from;
  std::size_t size;
};
inline constexpr std::size_t kMaxPieces = 16;
std::size_t read_pieces(const MemoryPiece* pieces, std::size_t count, void* to);

// How long one of our threads waits for another one of ours: as long as that may be away from its processor,
// or at a slow disk, and not for ever: it may be gone.
class Patience {
 public:
  explicit Patience(int seconds = 1) : seconds_(seconds) {}
  bool wait();  // for a moment; false when it is at an end, so many seconds after the first one

 private:
  int seconds_;
  int round_ = 0;
};

// A stretch of hook work that the program must not notice: errno is restored at its end and no signal handler
// runs on this thread inside it. SIGXFSZ that it caused itself is swallowed.
class QuietSection {
 public:
  QuietSection();
  ~QuietSection();
  QuietSection(const QuietSection&) = delete;
  QuietSection& operator=(const QuietSection&) = delete;

 private:
  int saved_errno_;
  bool size_signal_was_pending_ = false;
  sigset_t saved_mask_;
};

}  // namespace dtype_guard::san
