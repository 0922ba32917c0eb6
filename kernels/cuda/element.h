// The element types as kernels name them, so that a kernel's name tells its dtypes. CUDA's own types, which
// are never complete here: elements are handled as bits, and device/primitives.h converts them.
#pragma once

#include <cstdint>

struct __half;
struct __nv_bfloat16;

namespace flash_ref {

// What an element is in memory.
template <class T>
struct StorageOf {
  using type = std::uint16_t;
};
template <>
struct StorageOf<float> {
  using type = float;
};
template <class T>
using Storage = typename StorageOf<T>::type;

}  // namespace flash_ref
