#include "sanitizer/attach/attach_turn.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <chrono>

#include "sanitizer/attach/process_facts.h"
#include "sanitizer/launcher/message.h"

namespace dtype_guard::san {
namespace {

// Longer than a tool waits for the library to be loaded.
constexpr auto kLongestTurn = std::chrono::seconds(60);

int open_memory(pid_t process) {
  return open(fmt::format("/proc/{}/mem", process).c_str(), O_RDONLY | O_CLOEXEC);
}

bool is_refused(int file, int how) { return flock(file, how | LOCK_NB) != 0 && errno == EWOULDBLOCK; }

}  // namespace

AttachTurn::AttachTurn(pid_t process) : file_(open_memory(process)) {
  if (file_ < 0 || !is_refused(file_, LOCK_EX)) return;
  tell("another dtype-san is joining process {}: waiting for it", process);
  const auto end = std::chrono::steady_clock::now() + kLongestTurn;
  while (is_refused(file_, LOCK_EX)) {
    if (std::chrono::steady_clock::now() > end) {
      close(file_);
      throw AttachError{fmt::format(
          "another dtype-san has been joining process {} for {} s (was it stopped?): end it, then try again",
          process, kLongestTurn.count())};
    }
    const timespec pause = {0, 10'000'000};
    nanosleep(&pause, nullptr);
  }
}

AttachTurn::~AttachTurn() {
  if (file_ >= 0) close(file_);
}

bool AttachTurn::is_taken(pid_t process) {
  const int file = open_memory(process);
  if (file < 0) return false;
  const bool taken = is_refused(file, LOCK_SH);
  close(file);
  return taken;
}

}  // namespace dtype_guard::san
