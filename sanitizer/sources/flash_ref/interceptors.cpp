// flash_ref's kernels, as apis.inc lists them.
#include "sanitizer/sources/interceptor.h"

#define DTYPE_SAN_API DTYPE_SAN_INTERCEPTOR
#include "sanitizer/sources/flash_ref/apis.inc"
#undef DTYPE_SAN_API
