// The unwinder of libgcc_eh.a: on Debian and Ubuntu libunwind.a is not position independent, so it cannot go
// into a shared library, while libgcc_eh.a can. It finds unwind tables through _dl_find_object, which only
// glibc 2.35 has; the definition below keeps this library loadable on older ones. With the two pthread names
// it also keeps it free of GLIBC_2.34 references.
#include <dlfcn.h>
#include <pthread.h>
#include <unwind.h>

#include <atomic>
#include <utility>

#include "sanitizer/capture/stack.h"
#include "sanitizer/platform/loaded_object.h"
#include "sanitizer/platform/own_code.h"

namespace dtype_guard::san {
namespace {

struct Capture {
  std::uintptr_t* frames;
  std::uintptr_t* words;
  std::size_t capacity;
  std::size_t count;
  std::uintptr_t stack_pointer;
};

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* data) {
  auto* capture = static_cast<Capture*>(data);
  int interrupted = 0;
  std::uintptr_t address = _Unwind_GetIPInfo(context, &interrupted);
  if (address == 0) return _URC_END_OF_STACK;
  std::uintptr_t inner = std::exchange(capture->stack_pointer, _Unwind_GetCFA(context));
  if (capture->count == 0 && is_own_code(address)) return _URC_NO_REASON;
  // Behind a signal lies another stack, perhaps.
  capture->words[capture->count] = interrupted != 0 ? 0 : return_word(inner, capture->stack_pointer, address);
  capture->frames[capture->count++] = address + (interrupted != 0 ? 1 : 0);
  return capture->count < capture->capacity ? _URC_NO_REASON : _URC_END_OF_STACK;
}

}  // namespace

std::size_t capture_stack(std::uintptr_t* frames, std::uintptr_t* words, std::size_t capacity) {
  Capture capture{frames, words, capacity, 0, 0};
  _Unwind_Backtrace(add_frame, &capture);
  return capture.count;
}

#if defined(DLFO_STRUCT_HAS_EH_DBASE)

namespace {

using FindObject = int (*)(void*, dl_find_object*);

// The loader's own lookup, which takes no lock; older loaders lack it.
FindObject loader_lookup() {
  static std::atomic<void*> found{nullptr};
  static std::atomic<bool> searched{false};
  if (!searched.load(std::memory_order_acquire)) {
    each_loaded_object([](const LoadedObject& object) {
      if (is_own_code(object.bias)) return true;
      void* address = object.find_function("_dl_find_object");
      if (address != nullptr) found.store(address, std::memory_order_relaxed);
      return address == nullptr;
    });
    searched.store(true, std::memory_order_release);
  }
  return reinterpret_cast<FindObject>(found.load(std::memory_order_relaxed));
}

bool describe(const LoadedObject& object, dl_find_object* result) {
  for (std::size_t i = 0; i < object.header_count; ++i) {
    if (object.headers[i].p_type != PT_GNU_EH_FRAME) continue;
    std::uintptr_t low, high;
    object.range(low, high);
    result->dlfo_flags = 0;
    result->dlfo_map_start = reinterpret_cast<void*>(low);
    result->dlfo_map_end = reinterpret_cast<void*>(high);
    result->dlfo_link_map = nullptr;
    result->dlfo_eh_frame = reinterpret_cast<void*>(object.bias + object.headers[i].p_vaddr);
    return true;
  }
  return false;
}

}  // namespace

#endif

}  // namespace dtype_guard::san

extern "C" {

#if defined(DLFO_STRUCT_HAS_EH_DBASE)
[[gnu::visibility("hidden")]] int _dl_find_object(void* address, dl_find_object* result) noexcept {
  using namespace dtype_guard::san;
  if (FindObject lookup = loader_lookup()) return lookup(address, result);
  int status = -1;
  each_loaded_object([&](const LoadedObject& object) {
    if (!object.contains(reinterpret_cast<std::uintptr_t>(address))) return true;
    status = describe(object, result) ? 0 : -1;
    return false;
  });
  return status;
}
#endif

// libgcc asks by these whether the process may have threads, and has its register table built once.
[[gnu::visibility("hidden")]] int __pthread_key_create(pthread_key_t*, void (*)(void*)) { return -1; }
[[gnu::visibility("hidden")]] int pthread_once(pthread_once_t* control, void (*routine)()) {
  // Two threads may run the routine at once: libgcc's only writes constants. Waiting could hang a forked
  // child.
  static std::atomic<bool> done{false};
  (void)control;
  if (!done.load(std::memory_order_acquire)) {
    routine();
    done.store(true, std::memory_order_release);
  }
  return 0;
}

}  // extern "C"
