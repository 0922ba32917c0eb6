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
constinit std::atomic<std::uint64_t> ends_at{0}, begins_at{0};  // ns
constinit std::uint64_t callback = 0;
constinit std::atomic<std::uintptr_t> opening_thread{0};

std::uintptr_t this_thread() { return reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer()); }

bool change_from(State from) {
  return state.load(std::memory_order_relaxed) == from &&
         state.compare_exchange_strong(from, State::kChanging, std::memory_order_acq_rel);
}

void open() {
  if (!change_from(State::kClosed)) return;
  constexpr std::uint64_t kSecond = 1'000'000'000, kMillisecond = 1'000'000;
  const std::uint64_t now = plan.kind == Windows::kTimed ? monotonic_ns() : 0;
  ends_at.store(now + plan.milliseconds * kMillisecond, std::memory_order_relaxed);
  begins_at.store(now + kSecond, std::memory_order_relaxed);
  storage_life.clear();  // what lived and died meanwhile was not announced
  storage_life.switch_on(true);
  notes_origins.store(true, std::memory_order_release);
  if (plan.add_callback != nullptr) callback = plan.add_callback();
  state.store(State::kOpen, std::memory_order_release);
}

void close() {
  if (!change_from(State::kOpen)) return;
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

void close_window_at_record() {
  if (state.load(std::memory_order_relaxed) == State::kOpen &&
      monotonic_ns() > ends_at.load(std::memory_order_relaxed))
    close();
}

}  // namespace dtype_guard::san::torch
