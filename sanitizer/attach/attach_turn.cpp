#include "sanitizer/attach/attach_turn.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>

#include "sanitizer/attach/process_facts.h"

namespace dtype_guard::san {
namespace {

// Longer than a tool waits for the library to be loaded.
constexpr auto kLongestTurn = std::chrono::seconds(60);

int open_memory(pid_t process) {
  return open(fmt::format("/proc/{}/mem", process).c_str(), O_RDONLY | O_CLOEXEC);
}

bool is_refused(int file, int how) { return flock(file, how | LOCK_NB) != 0 && errno == EWOULDBLOCK; }

// The process that has the lock, as /proc/locks tells: "1: FLOCK  ADVISORY  WRITE 4711 00:15:1234 0 EOF". 0
// where it cannot be told.
pid_t holder_of(int file) {
  struct stat status = {};
  if (fstat(file, &status) != 0) return 0;
  std::ifstream locks("/proc/locks");
  const std::string inode = fmt::format(":{}", status.st_ino);
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, kind, strength, access, place;
    pid_t holder = 0;
    words >> number >> kind >> strength >> access >> holder >> place;
    if (words && kind == "FLOCK" && place.ends_with(inode) && holder > 0) return holder;
  }
  return 0;
}

std::string name_of(pid_t tool) {
  return tool != 0 ? fmt::format("another dtype-san (process {})", tool) : "another dtype-san";
}

bool is_stopped(pid_t tool) { return tool != 0 && thread_status(tool, tool, "State") == "T"; }

}  // namespace

AttachTurn::AttachTurn(pid_t process, Waits waits) : file_(open_memory(process)) {
  if (file_ < 0 || !is_refused(file_, LOCK_EX)) return;
  const auto end = std::chrono::steady_clock::now() + kLongestTurn;
  bool told = false;
  do {
    const pid_t holder = holder_of(file_);
    const std::string name = name_of(holder);
    if (!told) waits(name, process);
    told = true;
    const bool stopped = is_stopped(holder);
    if (stopped || std::chrono::steady_clock::now() > end) {
      close(file_);
      throw AttachError{stopped
                            ? fmt::format("{}, which is joining process {}, is stopped by a signal: 'kill "
                                          "-CONT {}' lets it finish, "
                                          "'kill -KILL {}' ends it; then try again",
                                          name, process, holder, holder)
                            : fmt::format("{} has been joining process {} for {} s: end it, then try again",
                                          name, process, kLongestTurn.count())};
    }
    const timespec pause = {0, 10'000'000};
    nanosleep(&pause, nullptr);
  } while (is_refused(file_, LOCK_EX));
}

AttachTurn::~AttachTurn() {
  if (file_ >= 0) close(file_);
}

std::string AttachTurn::holder(pid_t process) {
  const int file = open_memory(process);
  if (file < 0) return "";
  const bool taken = is_refused(file, LOCK_SH);
  const pid_t tool = taken ? holder_of(file) : 0;
  close(file);
  if (!taken) return "";
  return name_of(tool) +
         (is_stopped(tool) ? fmt::format(", stopped by a signal ('kill -CONT {}'),", tool) : "");
}

}  // namespace dtype_guard::san
