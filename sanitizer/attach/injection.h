// Loads a library into a running process. One thread is stopped for a few milliseconds, at a moment when it
// holds none of the locks that matter, and made to start a helper thread; that one, with all signals blocked,
// calls dlopen while the job runs on. (A thread made to call dlopen itself hangs when it was inside malloc.)
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "sanitizer/attach/pending_join.h"
#include "sanitizer/attach/process_facts.h"
#include "sanitizer/protocol/mailbox.h"

namespace dtype_guard::san {

struct Injection {
  Mailbox mailbox;
  pid_t thread = 0;  // that was stopped
  std::chrono::nanoseconds paused{0};
  std::chrono::nanoseconds paused_before{0};  // all threads that were stopped and could not be used, together
  int attempts = 0;                           // stops, the last one included
};

// Throws AttachError when it cannot be done; the process then runs as before.
Injection inject_library(const ProcessFacts& process, const std::string& library, const std::string& options);

// Goes on with an attach that was ended, without another pause. Nothing when its helper thread has given up
// meanwhile: then the process is as before.
std::optional<Injection> finish_join(const ProcessFacts& process, const PendingJoin& pending,
                                     const std::string& library, const std::string& options);

}  // namespace dtype_guard::san
