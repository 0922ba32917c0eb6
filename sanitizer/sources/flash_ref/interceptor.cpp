#include "sanitizer/sources/flash_ref/interceptor.h"

#include "sanitizer/settings/settings.h"
#include "sanitizer/sources/flash_ref/kernel_lookup.h"
#include "sanitizer/sources/flash_ref/observed_copies.h"

namespace dtype_guard::san {
namespace {

// A program that tests a weak reference before calling finds our name even where no kernel exists. Its call
// then fails like any call that the kernel refuses.
int no_kernel() { return -1; }

// Of the program's start, in whatever copy.
std::atomic<void*> start_kernels[kApiCount];

}  // namespace

Kernel find_kernel_for(ApiId api, std::uintptr_t caller) {
  auto index = static_cast<std::size_t>(api);
  if (void* kernel = start_kernels[index].load(std::memory_order_relaxed))
    return {kernel, observed_kernels[index].load(std::memory_order_relaxed) == kernel};
  QuietSection quiet;
  KernelLocation location = find_kernel(kContracts[index].name, caller - 1);
  if (location.address == nullptr) {
    TextBuffer<512> message;
    message << "'" << kContracts[index].name << "' was called, but no library in process " << process_id()
            << " defines it; the call returns -1. Link the library that has it, or run without dtype-san";
    say(message.view());
    return {reinterpret_cast<void*>(no_kernel), true};
  }
  bool observed = is_observed(reinterpret_cast<std::uintptr_t>(location.address));
  if (location.permanent) {
    if (observed) observed_kernels[index].store(location.address, std::memory_order_relaxed);
    start_kernels[index].store(location.address, std::memory_order_relaxed);
  }
  return {location.address, observed};
}

void* thunk_for(ApiId api, void* kernel) {
  if (is_observed(reinterpret_cast<std::uintptr_t>(kernel))) return kernel;
  auto& known = thunk_kernels[static_cast<std::size_t>(api)];
  for (std::size_t i = 0; i < kMaxThunks; ++i) {
    void* seen = nullptr;
    if (known[i].compare_exchange_strong(seen, kernel) || seen == kernel) return thunks_of(api)[i];
  }
  return kernel;
}

}  // namespace dtype_guard::san
