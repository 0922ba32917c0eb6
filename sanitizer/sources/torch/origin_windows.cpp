#include "sanitizer/sources/torch/origin_windows.h"

#include <string.h>

#include "sanitizer/platform/clock.h"
#include "sanitizer/sources/torch/origins.h"
#include "sanitizer/sources/torch/storage_life.h"

namespace dtype_guard::san::torch {
namespace {

constinit WindowPlan plan;
constinit std::atomic<std::uint64_t> steps{0};

enum class State : std::uint8_t { kClosed, kChanging, kOpen };
constinit std::atomic<State> state{State::kClosed};
constinit std::atomic<std::uint64_t> opened_at{0}, ends_at{0}, begins_at{0};  // ns
constinit std::atomic<std::uint64_t> calls{0};                                // that ended in the window

// Operands of the first are older than the window, or may be. The second's were made in it, unless it is not
// one step of the job that lies between them but very many.
constexpr std::uint64_t kCalls = 2, kLongest = 100;  // times as long as windows are
constinit std::uint64_t callback = 0;
constinit std::atomic<std::uintptr_t> opening_thread{0};

constexpr std::uint64_t kMillisecond = 1'000'000, kPerSecond = 1000;  // ns, ms

std::uintptr_t this_thread() { return reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer()); }

bool change_from(State from) {
  return state.load(std::memory_order_relaxed) == from &&
         state.compare_exchange_strong(from, State::kChanging, std::memory_order_acq_rel);
}

void open() {
  if (!change_from(State::kClosed)) return;
  constexpr std::uint64_t kSecond = kPerSecond * kMillisecond;
  const std::uint64_t now = plan.kind == Windows::kTimed ? monotonic_ns() : 0;
  opened_at.store(now, std::memory_order_relaxed);
  calls.store(0, std::memory_order_relaxed);
  ends_at.store(now + plan.milliseconds * kMillisecond, std::memory_order_relaxed);
  begins_at.store(now + kSecond, std::memory_order_relaxed);
  storage_life.clear();  // what lived and died meanwhile was not announced
  storage_life.switch_on(true);
  notes_origins.store(true, std::memory_order_release);
  if (plan.add_callback != nullptr) callback = plan.add_callback();
  state.store(State::kOpen, std::memory_order_release);
}

// One that had to wait for its calls makes the next wait: the share of the time is the same. The first may be
// over before the job makes any.
void put_off_next() {
  if (calls.load(std::memory_order_relaxed) == 0) return;
  const std::uint64_t now = monotonic_ns(), lasted = now - opened_at.load(std::memory_order_relaxed);
  const std::uint64_t share = plan.milliseconds < kPerSecond ? kPerSecond / plan.milliseconds : 1;
  const std::uint64_t next = opened_at.load(std::memory_order_relaxed) + lasted * share;
  if (next > begins_at.load(std::memory_order_relaxed)) begins_at.store(next, std::memory_order_relaxed);
}

void close() {
  if (!change_from(State::kOpen)) return;
  if (plan.kind == Windows::kTimed) put_off_next();
  notes_origins.store(false, std::memory_order_release);
  storage_life.switch_on(false);
  if (plan.add_callback != nullptr) libtorch.remove_callback(callback);
  state.store(State::kClosed, std::memory_order_release);
}

ContextPointer on_step_start(const Record&) { return {nullptr}; }

void on_step_end(const Record& record, Context*) {
  constexpr char kStep[] = "Optimizer.step#";
  if (strncmp(libtorch.name(&record), kStep, sizeof kStep - 1) != 0) return;
  const std::uint64_t step = steps.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (step % plan.every == 0)
    open();
  else
    close();
}

void follow_steps() {
  Callback steps_callback;
  steps_callback.start = on_step_start;
  steps_callback.end = on_step_end;
  steps_callback.scopes[static_cast<std::size_t>(Scope::kUserScope)] = true;
  (void)libtorch.add_callback(steps_callback);
}

}  // namespace

void start_windows(const WindowPlan& wanted) {
  plan = wanted;
  if (plan.kind == Windows::kSteps) follow_steps();
  open();
  has_timed_windows.store(plan.kind == Windows::kTimed, std::memory_order_release);
}

bool window_at_call() {
  if (plan.kind == Windows::kNone) return false;
  if (state.load(std::memory_order_acquire) == State::kOpen) return true;
  if (plan.kind == Windows::kTimed && monotonic_ns() >= begins_at.load(std::memory_order_relaxed)) {
    opening_thread.store(this_thread(), std::memory_order_relaxed);
    open();
  }
  return false;
}

bool has_opened_window() {
  std::uintptr_t own = this_thread();
  return opening_thread.load(std::memory_order_relaxed) == own &&
         opening_thread.compare_exchange_strong(own, 0, std::memory_order_relaxed);
}

void note_call_in_window() { calls.fetch_add(1, std::memory_order_relaxed); }

void close_window_at_record() {
  if (state.load(std::memory_order_relaxed) != State::kOpen) return;
  const std::uint64_t now = monotonic_ns(), end = ends_at.load(std::memory_order_relaxed);
  if (now <= end) return;
  const std::uint64_t longest = plan.milliseconds * kMillisecond * kLongest;
  const bool is_waiting = calls.load(std::memory_order_relaxed) < kCalls &&
                          now - opened_at.load(std::memory_order_relaxed) < longest;
  if (!is_waiting) close();
}

}  // namespace dtype_guard::san::torch
