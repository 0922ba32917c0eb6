#include "sanitizer/sources/torch/job_end.h"

#include <atomic>

#include "sanitizer/platform/system.h"
#include "sanitizer/sources/torch/library.h"

extern "C" {
int __cxa_atexit(void (*function)(void*), void* argument, void* object);
[[gnu::visibility("hidden")]] extern void* __dso_handle;
}

namespace dtype_guard::san::torch {
namespace {

constexpr int kLongest = 5;  // seconds
constinit std::atomic<bool> is_calling{false};

// What was registered last is called first: before libtorch's own objects are destroyed.
void wait_for_calls(void*) {
  for (Patience patience(kLongest); is_calling.load(std::memory_order_acquire) && patience.wait();) {
  }
}

int ask(const char* name, int unknown) {
  LoadedObject python;
  if (!find_object(name, python)) return unknown;
  return reinterpret_cast<int (*)()>(python.find_function(name))();
}

}  // namespace

JobGoesOn::JobGoesOn() {
  is_calling.store(true, std::memory_order_release);
  (void)__cxa_atexit(wait_for_calls, nullptr, &__dso_handle);
}
JobGoesOn::~JobGoesOn() { is_calling.store(false, std::memory_order_release); }

bool is_python_ending(TextSink& reason) {
  LoadedObject module;
  const bool is_ending =
      ask("_Py_IsFinalizing", 0) != 0 || ask("Py_IsFinalizing", 0) != 0 ||
      (find_object("_Z16THPVariable_WrapN2at10TensorBaseE", module) && ask("Py_IsInitialized", 1) == 0);
  if (is_ending) reason << "the process was ending as it was joined";
  return is_ending;
}

}  // namespace dtype_guard::san::torch
