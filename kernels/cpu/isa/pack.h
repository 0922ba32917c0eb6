// Operands of the product, copied from tensors of any stride into panels of floats.
#pragma once

#include "kernels/cpu/isa/convert.h"
#include "kernels/cpu/isa/product.h"

namespace flash_ref::cpu::FLASH_REF_ISA {

// Rows as they are: `count` rows of `dim` elements, each times `factor`; rows of the copy are `width` floats
// apart.
template <class T>
void pack_row(const T* from, std::int64_t stride, std::int64_t dim, float factor, float* to) {
  const Vec scale = broadcast(factor);
  for (std::int64_t d = 0; d < dim; d += kLanes) {
    store(to + d, widen_some(from + d * stride, stride, smaller(kLanes, dim - d)) * scale);
  }
}

// Keys become columns: panel p holds dim rows of the keys from p * kPanel on. Columns beyond `count` are 0.
template <class T>
void pack_keys(const T* from, std::int64_t row_stride, std::int64_t dim_stride, std::int64_t count,
               std::int64_t dim, float* to) {
  const std::int64_t columns = round_up(count, kLanes);
  for (std::int64_t column = 0; column < columns; column += kLanes) {
    const std::int64_t start = column / kPanel * kPanel, width = panel_width(start, columns);
    float* panel = to + start * dim + (column - start);
    for (std::int64_t d = 0; d < dim; d += kLanes) {
      const std::int64_t some = smaller(kLanes, dim - d);
      Vec rows[kLanes];
#pragma GCC unroll 16
      for (int j = 0; j < kLanes; ++j) {
        rows[j] = Vec{};
        if (column + j < count) {
          rows[j] = widen_some(from + (column + j) * row_stride + d * dim_stride, dim_stride, some);
        }
      }
      transpose(rows);
      if (some == kLanes) {
#pragma GCC unroll 16
        for (int i = 0; i < kLanes; ++i) store(panel + (d + i) * width, rows[i]);
      } else {
        for (std::int64_t i = 0; i < some; ++i) store(panel + (d + i) * width, rows[i]);
      }
    }
  }
}

// Values keep their rows: panel p holds columns p * kPanel on, `depth` rows apart from the next panel.
// Returns whether all of them are finite.
template <class T>
bool pack_values(const T* from, std::int64_t row_stride, std::int64_t dim_stride, std::int64_t count,
                 std::int64_t dim, std::int64_t depth, float* to) {
  const std::int64_t columns = round_up(dim, kLanes);
  Vec check = {};
  for (std::int64_t j = 0; j < count; ++j) {
    const T* row = from + j * row_stride;
    for (std::int64_t column = 0; column < columns; column += kLanes) {
      const std::int64_t start = column / kPanel * kPanel, width = panel_width(start, columns);
      const Vec value = widen_some(row + column * dim_stride, dim_stride, smaller(kLanes, dim - column));
      check = multiply_add(value, Vec{}, check);  // 0 as long as all were finite, NaN from then on
      store(to + start * depth + j * width + (column - start), value);
    }
  }
  return sum_of_lanes(check) == 0.0F;
}

}  // namespace flash_ref::cpu::FLASH_REF_ISA
