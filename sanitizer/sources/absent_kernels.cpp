#include "sanitizer/sources/absent_kernels.h"

#include <sys/mman.h>
#include <unistd.h>

#include "sanitizer/capture/loaded_object.h"
#include "sanitizer/capture/stack.h"
#include "sanitizer/runtime/contract_table.h"
#include "sanitizer/sources/interceptor.h"
#include "sanitizer/sources/kernel_lookup.h"

namespace dtype_guard::san {
namespace {

// Of the objects at start the loader has bound these by now; a lazily bound call is bound when it is made.
void set_to_null(const LoadedObject& object, std::uintptr_t* place) {
  std::uintptr_t low = 0, high = 0;
  object.relocated_read_only(low, high);
  auto address = reinterpret_cast<std::uintptr_t>(place);
  bool read_only = address >= low && address < high;
  auto page_size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  auto* page = reinterpret_cast<void*>(address & ~(page_size - 1));
  if (read_only && mprotect(page, page_size, PROT_READ | PROT_WRITE) != 0) return;
  *place = 0;
  if (read_only) (void)mprotect(page, page_size, PROT_READ);
}

}  // namespace

void forget_absent_kernels() {
  std::uintptr_t absent[kApiCount];
  std::size_t count = 0;
  for (std::size_t i = 0; i < kApiCount; ++i)
    if (find_kernel(kContracts[i].name, 0).address == nullptr)
      absent[count++] = own_export(kContracts[i].name);
  if (count == 0) return;
  struct Place {
    LoadedObject object;
    std::uintptr_t* address;
  } places[32];
  std::size_t found = 0;
  each_loaded_object([&](const LoadedObject& object) {
    if (is_own_code(object.bias)) return true;
    object.each_bound_address([&](std::uintptr_t* place) {
      for (std::size_t i = 0; i < count; ++i)
        if (*place == absent[i] && found < sizeof places / sizeof places[0])
          places[found++] = {object, place};
    });
    return true;
  });
  for (std::size_t i = 0; i < found; ++i) set_to_null(places[i].object, places[i].address);
}

}  // namespace dtype_guard::san
