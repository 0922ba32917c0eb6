/* A program whose CUDA runtime is loaded and whose CUPTI is opened by name, as cupy and TensorFlow do:
 *   inject             the driver loads what CUDA_INJECTION64_PATH names
 *   open FILE          dlopen and cuptiSubscribe by handle
 *   launch KERNEL      by the libcupti that is loaded, if any
 * and at the end how many libcupti are loaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cuInit(unsigned flags);
int scripted_runtime(void);

typedef int (*subscribe)(void** subscriber, void (*callback)(void*, uint32_t, uint32_t, const void*),
                         void* data);

static void ignore(void* data, uint32_t domain, uint32_t id, const void* callback) {
  (void)data, (void)domain, (void)id, (void)callback;
}

static int count_cupti(struct dl_phdr_info* info, size_t size, void* count) {
  (void)size;
  *(int*)count += strstr(info->dlpi_name, "libcupti.so") != NULL;
  return 0;
}

static void* function_of(void* library, const char* name) {
  return library != NULL ? dlsym(library, name) : NULL;
}

int main(int argc, char** argv) {
  void* library = NULL;
  printf("runtime %d\n", scripted_runtime());
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "inject") == 0) {
      cuInit(0);
      const char* injected = getenv("CUDA_INJECTION64_PATH");
      void* address =
          function_of(injected != NULL ? dlopen(injected, RTLD_NOW) : NULL, "InitializeInjection");
      int (*initialise)(void) = NULL;
      memcpy(&initialise, &address, sizeof address);
      if (initialise != NULL) initialise();
    } else if (strcmp(argv[i], "open") == 0) {
      library = dlopen(argv[++i], RTLD_NOW | RTLD_LOCAL);
      void* address = function_of(library, "cuptiSubscribe");
      subscribe function = NULL;
      memcpy(&function, &address, sizeof address);
      void* subscriber = NULL;
      printf("subscribe %d\n", function != NULL ? function(&subscriber, ignore, NULL) : -1);
    } else if (strcmp(argv[i], "launch") == 0) {
      void* address = function_of(dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD), "scripted_launch");
      void (*launch)(const char*) = NULL;
      memcpy(&launch, &address, sizeof address);
      ++i;
      if (launch != NULL) launch(argv[i]);
    }
  }
  int count = 0;
  dl_iterate_phdr(count_cupti, &count);
  printf("libcupti %d\n", count);
  return 0;
}
