// A program that uses CUDA as far as the sanitizer can tell: it initialises the "driver", which loads the
// library that CUDA_INJECTION64_PATH names, and launches kernels, all through a scripted libcupti.
//   launches WORD...    NAME launches the kernel NAME, graph launches a graph, subscribe is another CUPTI
//   client
//   switch switches watching off inside a launch and on again behind it
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
#include "scripted_cupti.h"
int cuptiSubscribe(void** subscriber, void (*callback)(void*, std::uint32_t, std::uint32_t, const void*),
                   void* user_data);
}

namespace {

void initialise_driver() {
  const char* injected = std::getenv("CUDA_INJECTION64_PATH");
  void* library = injected != nullptr ? dlopen(injected, RTLD_NOW) : nullptr;
  void* function = library != nullptr ? dlsym(library, "InitializeInjection") : nullptr;
  if (function == nullptr) return;
  int (*initialise)() = nullptr;
  std::memcpy(&initialise, &function, sizeof function);
  initialise();
  initialise();  // both ways in together must not matter
}

void switch_watching(int on) {
  void* function = dlsym(RTLD_DEFAULT, "dtype_san_switch");
  if (function == nullptr) return;
  int (*change)(int) = nullptr;
  std::memcpy(&change, &function, sizeof function);
  change(on);
}

void other_client(void*, std::uint32_t, std::uint32_t, const void*) {}

__attribute__((noinline)) void attention_step(const char* kernel) {
  scripted_launch(kernel);  // call: launch
  asm volatile("");
}

}  // namespace

int main(int argc, char** argv) {
  initialise_driver();
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "graph") == 0) {
      scripted_launch(nullptr);
    } else if (std::strcmp(argv[i], "switch") == 0) {
      scripted_enter("switched_kernel");
      switch_watching(0);
      scripted_leave("switched_kernel");
      switch_watching(1);
    } else if (std::strcmp(argv[i], "subscribe") == 0) {
      void* subscriber = nullptr;
      std::printf("subscribe %d\n", cuptiSubscribe(&subscriber, other_client, nullptr));
    } else {
      attention_step(argv[i]);
    }
  }
  std::printf("subscriptions %d\n", scripted_subscriptions());
  return 0;
}
