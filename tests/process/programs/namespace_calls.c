/* namespace_calls HOW LIBRARY: opens the library by dlmopen in a namespace of its own and calls the kernel
 * there: by "address" from dlsym, or from "inside" by the library's call_inside; "twice" does the latter,
 * closes the library, and does it again. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "rotary_call.h"

static void* open_apart(const char* name) {
  void* library = dlmopen(LM_ID_NEWLM, name, RTLD_NOW);
  if (library == NULL) puts(dlerror()), exit(1);
  return library;
}

static void call_inside(void* library) {
  void (*inside)(void);
  *(void**)&inside = dlsym(library, "call_inside");
  if (inside == NULL) puts(dlerror()), exit(1);
  inside();
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  void* library = open_apart(argv[2]);
  if (strcmp(argv[1], "address") == 0) {
    rotary_function rotary;
    *(void**)&rotary = dlsym(library, "flash_ref_rotary");
    if (rotary == NULL) puts(dlerror()), exit(1);
    rotate_four_times(rotary);
    return 0;
  }
  call_inside(library);
  if (strcmp(argv[1], "twice") == 0) {
    dlclose(library);
    call_inside(open_apart(argv[2]));
  }
  return 0;
}
