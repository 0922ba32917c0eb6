#include "sanitizer/sources/flash_ref/absent_kernels.h"

#include "sanitizer/contracts/contract_table.h"
#include "sanitizer/platform/loaded_object.h"
#include "sanitizer/platform/own_code.h"
#include "sanitizer/platform/rebind.h"
#include "sanitizer/sources/flash_ref/bound_calls.h"
#include "sanitizer/sources/flash_ref/interceptor.h"
#include "sanitizer/sources/flash_ref/kernel_lookup.h"

namespace dtype_guard::san {
// Of the objects at start the loader has bound these by now; a lazily bound call is bound when it is made.
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
    object.each_binding([&](const Binding& binding) {
      for (std::size_t i = 0; i < count; ++i)
        if (*binding.place == absent[i] && found < sizeof places / sizeof places[0])
          places[found++] = {object, binding.place};
    });
    return true;
  });
  for (std::size_t i = 0; i < found; ++i) (void)rebind(places[i].object, places[i].address, 0);
}

}  // namespace dtype_guard::san
