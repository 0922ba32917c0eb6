// "[3/40] src/attention.cpp", rewritten in place, on a terminal only.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cstddef>
#include <iostream>
#include <mutex>
#include <string>

namespace dtype_guard::driver {

class Progress {
 public:
  Progress(bool wanted, std::size_t total)
      : on_(wanted && total > 1 && isatty(STDERR_FILENO)), total_(total) {}
  ~Progress() {
    if (on_) std::cerr << "\r\x1b[K" << std::flush;
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void starts(const std::string& file) {
    if (!on_) return;
    const std::lock_guard lock(mutex_);
    std::cerr << fmt::format("\r\x1b[K[{}/{}] {}", ++started_, total_, file) << std::flush;
  }

 private:
  bool on_;
  std::size_t total_;
  std::size_t started_ = 0;
  std::mutex mutex_;
};

}  // namespace dtype_guard::driver
