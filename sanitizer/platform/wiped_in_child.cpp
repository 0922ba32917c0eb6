#include "sanitizer/platform/wiped_in_child.h"

#include <sys/mman.h>

#include "sanitizer/platform/system.h"

namespace dtype_guard::san {

void* map_wiped_in_child(std::size_t size) {
  QuietSection quiet;
  void* fresh =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (fresh == MAP_FAILED) return nullptr;
  (void)madvise(fresh, size, MADV_WIPEONFORK);
  return fresh;
}

void* keep_first(std::atomic<void*>& mapping, void* fresh, std::size_t size) {
  if (fresh == nullptr) return mapping.load(std::memory_order_acquire);
  void* none = nullptr;
  if (mapping.compare_exchange_strong(none, fresh, std::memory_order_acq_rel)) return fresh;
  QuietSection quiet;
  munmap(fresh, size);
  return none;
}

}  // namespace dtype_guard::san
