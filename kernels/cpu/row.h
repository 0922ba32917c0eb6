// A row is a run of elements at one stride. Kernels read rows into float scratch, compute there, and store
// rows back, so that strides and element types are met here only.
#pragma once

#include <cstdint>

#include "kernels/cpu/half.h"

namespace flash_ref {

// The stride test is outside the loops: the common, contiguous case vectorises.
template <class T>
void load_row(const T* source, std::int64_t stride, std::int64_t count, float factor, float* __restrict row) {
  if (stride == 1) {
    for (std::int64_t i = 0; i < count; ++i) row[i] = widen(source[i]) * factor;
  } else {
    for (std::int64_t i = 0; i < count; ++i) row[i] = widen(source[i * stride]) * factor;
  }
}

template <class T>
void load_row(const T* source, std::int64_t stride, std::int64_t count, float* __restrict row) {
  load_row(source, stride, count, 1.0F, row);
}

template <class T>
void store_row(const float* __restrict row, float factor, std::int64_t count, std::int64_t stride,
               T* target) {
  if (stride == 1) {
    for (std::int64_t i = 0; i < count; ++i) target[i] = narrow<T>(row[i] * factor);
  } else {
    for (std::int64_t i = 0; i < count; ++i) target[i * stride] = narrow<T>(row[i] * factor);
  }
}

// Bits, not values: a NaN keeps its payload.
template <class T>
void copy_row(const T* source, std::int64_t source_stride, std::int64_t count, std::int64_t stride,
              T* target) {
  for (std::int64_t i = 0; i < count; ++i) target[i * stride] = source[i * source_stride];
}

}  // namespace flash_ref
