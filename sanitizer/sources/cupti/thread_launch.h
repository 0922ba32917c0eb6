// What one thread is doing while kernels are launched: which watched call it is in, and which launch. Written
// by its owner only.
#pragma once

#include <dlpack/dlpack.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace dtype_guard::san::cupti {

struct ThreadLaunch {
  // The watched call that this thread is inside of, as its observer was told: null outside. The first operand
  // is kept twice: a call that was left by longjmp leaves its list behind on a stack that is used again.
  std::atomic<const DLTensor* const*> operands;
  std::atomic<const DLTensor*> first_operand;
  std::atomic<std::uintptr_t> caller;
  std::atomic<std::uint32_t> api;

  std::atomic<std::uint32_t> session;  // that the rest belongs to
  std::atomic<std::uint32_t> depth;    // CUDA launch entry points that this thread is inside of
  std::atomic<std::uint32_t> launch;   // index + 1 of the outermost one
  std::atomic<std::uint32_t> is_new;   // it has not been written yet
  std::atomic<std::uint32_t> ticket;   // of the timer that runs
};

inline void enter_call(ThreadLaunch& thread, std::uint32_t api, const DLTensor* const* operands,
                       std::uintptr_t caller) {
  thread.first_operand.store(operands[0], std::memory_order_relaxed);
  thread.caller.store(caller, std::memory_order_relaxed);
  thread.api.store(api, std::memory_order_relaxed);
  thread.operands.store(operands, std::memory_order_relaxed);
}

inline void leave_call(ThreadLaunch& thread) { thread.operands.store(nullptr, std::memory_order_relaxed); }

}  // namespace dtype_guard::san::cupti
