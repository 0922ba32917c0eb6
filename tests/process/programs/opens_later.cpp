// Opens a library that uses flash_ref, calls it, closes it, and opens it again.
#include <dlfcn.h>

#include <cstdio>

int main(int, char** argv) {
  for (int round = 0; round < 3; ++round) {
    void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      std::puts(dlerror());
      return 1;
    }
    auto* rotate = reinterpret_cast<int (*)()>(dlsym(library, "rotate_mixed"));
    std::printf("status %d\n", rotate());
    dlclose(library);
  }
  return 0;
}
