// Apart from flash_ref.h: the sanitizer's table declares the same functions with opaque options.
#include "tests/unit/kernels/every_function.h"

#include <dlpack/dlpack.h>

namespace {

template <auto function>
struct Nulls;
template <typename... Parameters, int (*function)(Parameters...)>
struct Nulls<function> {
  static int call() { return function(static_cast<Parameters>(nullptr)...); }
};

}  // namespace

extern "C" {
#define DTYPE_SAN_API(name, parameters, arguments, operands) int name parameters;
#include "sanitizer/sources/flash_ref/apis.inc"
#undef DTYPE_SAN_API
}

std::vector<flash_ref_test::EveryFunction> flash_ref_test::every_function() {
  return {
#define DTYPE_SAN_API(name, parameters, arguments, operands) {#name, Nulls<&name>::call},
#include "sanitizer/sources/flash_ref/apis.inc"
#undef DTYPE_SAN_API
  };
}
