#include "sanitizer/platform/own_code.h"

// The linker's bounds of this library's image.
extern "C" {
[[gnu::visibility("hidden")]] extern const char __ehdr_start[];
[[gnu::visibility("hidden")]] extern const char etext[];
}

namespace dtype_guard::san {

bool is_own_code(std::uintptr_t address) {
  return address >= reinterpret_cast<std::uintptr_t>(__ehdr_start) &&
         address < reinterpret_cast<std::uintptr_t>(etext);
}

}  // namespace dtype_guard::san
