// Our subscription to CUPTI's callbacks. CUPTI has one place for a subscriber (before 13.5): ours is taken
// only when it is free and given up as soon as another client wants it. Whatever fails switches the source
// off, with the reason kept for the report; nothing here can fail the job.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sanitizer/platform/text_buffer.h"
#include "sanitizer/sources/cupti/abi.h"

namespace dtype_guard::san::cupti {

enum class SessionState : std::uint8_t { kNever, kOn, kOff };

class Session {
 public:
  // Subscribes and enables the callbacks of the launch entry points and of graph nodes, nothing else. False
  // when that cannot be; reason() then says why.
  bool start(const Functions& functions, Callback callback, void* user_data);

  // Off without a try.
  void refuse(const char* reason);

  // Unsubscribes. `reason` becomes what reason() says.
  void stop(const char* reason);

  bool is_on() const { return state_.load(std::memory_order_acquire) == SessionState::kOn; }
  SessionState state() const { return state_.load(std::memory_order_acquire); }
  // Why it is off; empty while it is on and before the first start.
  const char* reason() const { return reason_; }

 private:
  bool subscribe(TextSink& reason, Callback callback, void* user_data);
  bool enable_all(TextSink& reason);
  void unsubscribe(TextSink& reason);
  void append_failure(TextSink& reason, const char* what, Result result) const;

  Functions functions_;
  Subscriber subscriber_ = nullptr;
  std::atomic<SessionState> state_{SessionState::kNever};
  char reason_[256] = {};
};

}  // namespace dtype_guard::san::cupti
