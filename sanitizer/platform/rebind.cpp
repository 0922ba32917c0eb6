#include "sanitizer/platform/rebind.h"

#include <sys/mman.h>
#include <unistd.h>

namespace dtype_guard::san {

bool rebind(const LoadedObject& object, std::uintptr_t* place, std::uintptr_t value) {
  std::uintptr_t low = 0, high = 0;
  object.relocated_read_only(low, high);
  auto address = reinterpret_cast<std::uintptr_t>(place);
  bool read_only = address >= low && address < high;
  auto page_size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  auto* page = reinterpret_cast<void*>(address & ~(page_size - 1));
  if (read_only && mprotect(page, page_size, PROT_READ | PROT_WRITE) != 0) return false;
  __atomic_store_n(place, value, __ATOMIC_RELEASE);
  if (read_only) (void)mprotect(page, page_size, PROT_READ);
  return true;
}

}  // namespace dtype_guard::san
