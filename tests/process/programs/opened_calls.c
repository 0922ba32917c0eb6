/* opened_calls HOW NAME...: opens libraries and calls what is in them.
 * HOW: local, global, deepbind, twice (each library opened, then all called in turn), inside (call_inside of
 * each), probe (is there a kernel by RTLD_DEFAULT, in no library that has it?), default (RTLD_DEFAULT after
 * RTLD_GLOBAL). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "rotary_call.h"

static void* open_library(const char* name, int flags) {
  void* library = dlopen(name, RTLD_NOW | flags);
  if (library == NULL) puts(dlerror()), exit(1);
  return library;
}

static void call_kernel(void* library) {
  rotary_function rotary;
  *(void**)&rotary = dlsym(library, "flash_ref_rotary");
  if (rotary == NULL) puts(dlerror()), exit(1);
  rotate_four_times(rotary);
}

int main(int argc, char** argv) {
  const char* how = argv[1];
  int flags = strcmp(how, "global") == 0 || strcmp(how, "default") == 0 ? RTLD_GLOBAL : RTLD_LOCAL;
  void* libraries[4];
  if (strcmp(how, "deepbind") == 0) flags |= RTLD_DEEPBIND;
  for (int i = 2; i < argc; ++i) libraries[i - 2] = open_library(argv[i], flags);
  if (strcmp(how, "probe") == 0) {
    const char* error;
    dlerror();
    printf("found: %d\n", dlsym(RTLD_DEFAULT, "flash_ref_rotary") != NULL);
    error = dlerror();
    printf("error: %d\n", error != NULL && strstr(error, "undefined symbol: flash_ref_rotary") != NULL);
    printf("next: %d\n", dlsym(RTLD_NEXT, "flash_ref_rotary") != NULL);
    printf("main: %d\n", dlsym(dlopen(NULL, RTLD_NOW), "flash_ref_rotary") != NULL);
    return 0;
  }
  if (strcmp(how, "default") == 0) {
    call_kernel(RTLD_DEFAULT);
    return 0;
  }
  for (int i = 2; i < argc; ++i) {
    if (strcmp(how, "inside") == 0) {
      void (*call_inside)(void);
      *(void**)&call_inside = dlsym(libraries[i - 2], "call_inside");
      call_inside();
    } else {
      call_kernel(libraries[i - 2]);
    }
  }
  return 0;
}
