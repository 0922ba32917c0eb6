#include "sanitizer/sources/interceptor.h"

#include "sanitizer/runtime/settings.h"
#include "sanitizer/sources/kernel_lookup.h"

namespace dtype_guard::san {
namespace {

// A program that tests a weak reference before calling finds our name even where no kernel exists. Its call
// then fails like any call that the kernel refuses.
int no_kernel() { return -1; }

}  // namespace

void* find_kernel_slow(ApiId api, std::uintptr_t caller) {
  QuietSection quiet;
  auto index = static_cast<std::size_t>(api);
  KernelLocation location = find_kernel(kContracts[index].name, caller);
  if (location.address == nullptr) {
    TextBuffer<512> message;
    message << "'" << kContracts[index].name << "' was called, but no library in process " << process_id()
            << " defines it; the call returns -1. Link the library that has it, or run without dtype-san";
    say(message.view());
    return reinterpret_cast<void*>(no_kernel);
  }
  if (location.permanent) kernels[index].store(location.address, std::memory_order_relaxed);
  return location.address;
}

void first_call_slow(Process* mapped, ApiId api, std::uintptr_t caller) {
  QuietSection quiet;
  KernelLocation location = find_kernel(kContracts[static_cast<std::size_t>(api)].name, caller);
  if (location.address == nullptr) return;
  record_first_call(*mapped, api, location.address);
}

Watching decide_watching() {
  Watching state = settings().enabled ? Watching::kOn : Watching::kOff;
  watching.store(state, std::memory_order_relaxed);
  return state;
}

}  // namespace dtype_guard::san
