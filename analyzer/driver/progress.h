// "[3/40] src/attention.cpp", rewritten in place, on a terminal that can do so only.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <string>
#include <string_view>

namespace dtype_guard::driver {

class Progress {
 public:
  Progress(bool wanted, std::size_t total) : on_(wanted && total > 1 && can_rewrite()), total_(total) {
    if (on_) before_ = std::signal(SIGINT, leave_clean);
    if (before_ == SIG_IGN) std::signal(SIGINT, SIG_IGN);
  }
  ~Progress() {
    if (!on_) return;
    std::signal(SIGINT, before_);
    std::cerr << kClearLine << std::flush;
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void starts(const std::string& file) {
    if (!on_) return;
    const std::lock_guard lock(mutex_);
    std::cerr << fmt::format("{}[{}/{}] {}", kClearLine, ++started_, total_, file) << std::flush;
  }

 private:
  static constexpr std::string_view kClearLine = "\r\x1b[K";

  static bool can_rewrite() {
    const char* terminal = std::getenv("TERM");
    return isatty(STDERR_FILENO) && !(terminal && std::string_view(terminal) == "dumb");
  }
  // The prompt of the shell begins on an empty line.
  static void leave_clean(int signal) {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kClearLine.data(), kClearLine.size());
    std::signal(signal, SIG_DFL);
    ::raise(signal);
  }

  bool on_;
  std::size_t total_;
  std::size_t started_ = 0;
  void (*before_)(int) = SIG_DFL;
  std::mutex mutex_;
};

}  // namespace dtype_guard::driver
