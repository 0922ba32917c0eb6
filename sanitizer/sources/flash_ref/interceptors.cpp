// flash_ref's kernels, as apis.inc lists them.
#include "sanitizer/sources/flash_ref/interceptor.h"

#define DTYPE_SAN_API DTYPE_SAN_INTERCEPTOR
#include "sanitizer/sources/flash_ref/apis.inc"
#undef DTYPE_SAN_API

namespace dtype_guard::san {

void* const* thunks_of(ApiId api) {
  static_assert(kMaxThunks == 8);
  static void* const functions[kApiCount][kMaxThunks] = {
#define DTYPE_SAN_API(name, parameters, arguments, tensors)                                          \
  {reinterpret_cast<void*>(&name##_hook::thunk<0>), reinterpret_cast<void*>(&name##_hook::thunk<1>), \
   reinterpret_cast<void*>(&name##_hook::thunk<2>), reinterpret_cast<void*>(&name##_hook::thunk<3>), \
   reinterpret_cast<void*>(&name##_hook::thunk<4>), reinterpret_cast<void*>(&name##_hook::thunk<5>), \
   reinterpret_cast<void*>(&name##_hook::thunk<6>), reinterpret_cast<void*>(&name##_hook::thunk<7>)},
#include "sanitizer/sources/flash_ref/apis.inc"
#undef DTYPE_SAN_API
  };
  return functions[static_cast<std::size_t>(api)];
}

}  // namespace dtype_guard::san
