// Elements of any accepted type, one by one and eight at a time.
#pragma once

#include "device/primitives.h"

namespace flash_ref {

template <class T>
struct Number {
  FLASH_REF_DEVICE static float widen(std::uint16_t bits) { return device::widen<T>(bits); }
  FLASH_REF_DEVICE static std::uint16_t narrow(float value) {
    return static_cast<std::uint16_t>(device::pack<T>(value, value));
  }
};
template <>
struct Number<float> {
  FLASH_REF_DEVICE static float widen(float value) { return value; }
  FLASH_REF_DEVICE static float narrow(float value) { return value; }
};

// a' = a cos - b sin, b' = b cos + a sin, in one order everywhere.
FLASH_REF_DEVICE void rotate_pair(float& a, float& b, float cos, float sin) {
  const float rotated = device::fused(a, cos, -(b * sin));
  b = device::fused(b, cos, a * sin);
  a = rotated;
}

// Eight elements from `from` on; those from `count` on are zeros and not read. Elements that lie side by side
// at a multiple of 16 bytes are read as such.
template <class T>
FLASH_REF_DEVICE void load_eight(float (&x)[8], const Storage<T>* from, std::int64_t stride, int count,
                                 bool in_chunks) {
  if (in_chunks) {
    constexpr int kQuads = sizeof(Storage<T>) / 2;
#pragma unroll
    for (int n = 0; n < kQuads; ++n) {
      const device::Quad q = device::load16(from + n * 4);
#pragma unroll
      for (int i = 0; i < 8 / kQuads; ++i) {
        if constexpr (kQuads == 2) {
          x[n * 4 + i] = device::as_float(q.x[i]);
        } else {
          x[i] = device::widen<T>(q.x[i / 2] >> i % 2 * 16 & 0xffffU);
        }
      }
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) x[i] = i < count ? Number<T>::widen(device::load(from + i * stride)) : 0.0F;
}

template <class T>
FLASH_REF_DEVICE void store_eight(Storage<T>* to, const float (&x)[8], std::int64_t stride, int count,
                                  bool in_chunks) {
  if (in_chunks) {
    constexpr int kQuads = sizeof(Storage<T>) / 2;
#pragma unroll
    for (int n = 0; n < kQuads; ++n) {
      device::Quad q;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if constexpr (kQuads == 2) {
          q.x[i] = device::as_bits(x[n * 4 + i]);
        } else {
          q.x[i] = device::pack<T>(x[2 * i], x[2 * i + 1]);
        }
      }
      device::store16(to + n * 4, q);
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (i < count) device::store(to + i * stride, Number<T>::narrow(x[i]));
  }
}

}  // namespace flash_ref
