// Interceptors: functions of this library that carry the name of a kernel, so that a call that the dynamic
// linker binds arrives here first. They watch copies without an observer slot; a call to a copy that has one
// is passed on untouched, because its observer sees it (flash_ref/observed_copies.h). So each call is seen
// once.
//
// How to add an API (say flash_ref_decode):
//   1. Its contract goes into rules/contracts/<library>.json.
//   2. One row goes into sources/<library>/apis.inc: name, C parameters, the last of them `options`, then
//      arguments and tensor operands in the contract's order. Row and contract are compared at build time.
//      Tensors that lie in its options have a row each in flash_ref/option_tensors.inc.
//   3. Nothing else: the export list, the contract table, the interceptor, the observer's check and the
//      counters are made from that row. A process test that calls the kernel with a wrong dtype shows that it
//      is seen.
// How to add a source: runtime/source.h.
#pragma once

#include "sanitizer/sources/flash_ref/call_check.h"

namespace dtype_guard::san {

struct Kernel {
  void* address;
  bool observed;  // lies in a copy whose observer slot is used
};

// Kernels of observed copies among the objects of the program's start, which are never unloaded.
inline std::atomic<void*> observed_kernels[kApiCount];

// The kernel that the caller would have reached without this library; never null.
Kernel find_kernel_for(ApiId api, std::uintptr_t caller);

// Kernels of copies without a slot that were handed out by dlsym: each has a function of its own, so that two
// copies stay two.
inline constexpr std::size_t kMaxThunks = 8;
inline std::atomic<void*> thunk_kernels[kApiCount][kMaxThunks];

// The function to give out in place of `kernel`: itself where it is observed or no thunk is left.
void* thunk_for(ApiId api, void* kernel);
// The kMaxThunks functions of an API.
void* const* thunks_of(ApiId api);

inline void set_forwarded(CallSlot* slot, const DLTensor* first, const DLTensor* second) {
  if (slot == nullptr) return;
  const auto thread = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
  slot->forwarded[0].store(first, std::memory_order_relaxed);
  slot->forwarded[1].store(second, std::memory_order_relaxed);
  slot->thread.store(thread + (first != nullptr ? 1 : 0), std::memory_order_relaxed);
}

struct InterceptedCall {
  const DLTensor* const* operands_;
  const void* options_;
  std::uintptr_t caller_, kernel_;

  const void* options() const { return options_; }
  const DLTensor* const* operands() const { return operands_; }
  std::uintptr_t caller() const { return caller_; }
  std::uintptr_t kernel() const { return kernel_; }
};

// Out of line, so that the interceptor itself keeps nothing on the stack and can jump to an observed kernel:
// the observer then sees the true caller.
template <ApiId id, typename... Tensors, typename Call>
[[gnu::always_inline]] inline int intercepted(void* kernel, std::uintptr_t caller, const Call& call,
                                              const void* options, Tensors... tensors) {
  static_assert(sizeof...(Tensors) == kContract<id>.operand_count);
  const DLTensor* const operands[] = {tensors...};
  Process* mapped = is_watching() ? process() : nullptr;
  if (mapped == nullptr) return call();
  CallSlot* slot = call_slot(*mapped);
  before_call<id>(*mapped, slot,
                  InterceptedCall{operands, options, caller, reinterpret_cast<std::uintptr_t>(kernel)});
  set_forwarded(slot, operands[0], operands[1]);
  int status = call();
  set_forwarded(slot, nullptr, nullptr);
  after_call<id>(*mapped, operands, caller, status);
  return status;
}

}  // namespace dtype_guard::san

#define DTYPE_SAN_STRIP_PARENTHESES(...) __VA_ARGS__
#define DTYPE_SAN_CALLER reinterpret_cast<std::uintptr_t>(__builtin_return_address(0))

// The exported function, a template of thunks, and what both do for a copy without a slot.
#define DTYPE_SAN_INTERCEPTOR(name, parameters, arguments, tensors)                                         \
  namespace dtype_guard::san {                                                                              \
  struct name##_hook {                                                                                      \
    using Function = int(*) parameters;                                                                     \
    void* kernel;                                                                                           \
    std::uintptr_t caller;                                                                                  \
    [[gnu::noinline]] int watched parameters const {                                                        \
      return intercepted<ApiId::name>(                                                                      \
          kernel, caller, [&] { return reinterpret_cast<Function>(kernel) arguments; }, options,            \
          DTYPE_SAN_STRIP_PARENTHESES tensors);                                                             \
    }                                                                                                       \
    template <std::size_t copy>                                                                             \
    static int thunk parameters {                                                                           \
      return name##_hook{thunk_kernels[static_cast<std::size_t>(ApiId::name)][copy], DTYPE_SAN_CALLER}      \
          .watched arguments;                                                                               \
    }                                                                                                       \
  };                                                                                                        \
  /* Jumped to, so that the return address is still the caller's. */                                        \
  [[gnu::noinline]] int name##_searched parameters {                                                        \
    Kernel kernel = find_kernel_for(ApiId::name, DTYPE_SAN_CALLER);                                         \
    if (kernel.observed) return reinterpret_cast<name##_hook::Function>(kernel.address) arguments;          \
    return name##_hook{kernel.address, DTYPE_SAN_CALLER}.watched arguments;                                 \
  }                                                                                                         \
  }                                                                                                         \
  extern "C" __attribute__((visibility("default"))) int name parameters {                                   \
    using namespace dtype_guard::san;                                                                       \
    void* kernel = observed_kernels[static_cast<std::size_t>(ApiId::name)].load(std::memory_order_relaxed); \
    if (kernel != nullptr) [[likely]]                                                                       \
      return reinterpret_cast<name##_hook::Function>(kernel) arguments;                                     \
    return name##_searched arguments;                                                                       \
  }
