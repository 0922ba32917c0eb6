// Operands of the product, copied from tensors of any stride into panels of floats.
#pragma once

#include "kernels/cpu/isa/convert.h"
#include "kernels/cpu/isa/product.h"

namespace flash_ref::cpu::FLASH_REF_ISA {

constexpr std::int64_t kAhead = 32;  // rows; the processor does not foresee the jumps from row to row

// Asks for a row that will be read soon. It may lie beyond the tensor: asking does no harm there.
template <class T>
FLASH_REF_INLINE void prefetch_row(const T* base, std::int64_t row, std::int64_t row_stride,
                                   std::int64_t dim) {
  const std::uintptr_t from =
      reinterpret_cast<std::uintptr_t>(base) + static_cast<std::uintptr_t>(row * row_stride) * sizeof(T);
  for (std::uintptr_t at = 0; at < static_cast<std::uintptr_t>(dim) * sizeof(T); at += 64) {
    __builtin_prefetch(reinterpret_cast<const void*>(from + at));
  }
}

// A row times `factor`, or times its sign if its numbers are pairs; padded with 0 to a multiple of kLanes.
template <class T>
void pack_row(const T* from, std::int64_t stride, std::int64_t dim, float factor, float* to) {
  const Bits sign = Bits{} + (factor < 0 ? 0x80008000U : 0U);
  for (std::int64_t d = 0; d < numbers_of<T>(dim); d += kLanes) {
    const Vec value = numbers(from, stride, d, dim);
    store(to + d, kPairs<T> ? (Vec)((Bits)value ^ sign) : value * broadcast(factor));
  }
}

// Keys become columns: panel p holds the rows of numbers of the keys from p * kPanel on. Columns beyond
// `count` are 0.
template <class T>
void pack_keys(const T* from, std::int64_t row_stride, std::int64_t dim_stride, std::int64_t count,
               std::int64_t dim, float* to) {
  const std::int64_t columns = round_up(count, kLanes), depth = numbers_of<T>(dim);
  for (std::int64_t column = 0; column < columns; column += kLanes) {
    const std::int64_t start = column / kPanel * kPanel, width = panel_width(start, columns);
    float* panel = to + start * depth + (column - start);
    for (int j = 0; j < kLanes; ++j) prefetch_row(from, column + kAhead + j, row_stride, dim);
    for (std::int64_t d = 0; d < depth; d += kLanes) {
      Vec rows[kLanes];
#pragma GCC unroll 16
      for (int j = 0; j < kLanes; ++j) {
        rows[j] = Vec{};
        if (column + j < count) rows[j] = numbers(from + (column + j) * row_stride, dim_stride, d, dim);
      }
      transpose(rows);
      if (depth - d >= kLanes) {
#pragma GCC unroll 16
        for (int i = 0; i < kLanes; ++i) store(panel + (d + i) * width, rows[i]);
      } else {
        for (std::int64_t i = 0; i < depth - d; ++i) store(panel + (d + i) * width, rows[i]);
      }
    }
  }
}

// `some` values of the row of a number: a float each, or those of two keys, the second 0 beyond the last key.
template <class T>
FLASH_REF_INLINE Vec value_numbers(const T* row, std::int64_t row_stride, std::int64_t dim_stride,
                                   std::int64_t some, [[maybe_unused]] bool has_second) {
  if constexpr (kPairs<T>) {
    const Bits first = (Bits)widen_some(row, dim_stride, some) >> 16;
    if (!has_second) return (Vec)first;
    return (Vec)(first | (Bits)widen_some(row + row_stride, dim_stride, some));
  } else {
    return widen_some(row, dim_stride, some);
  }
}

#if defined(__AVX512BF16__)
// Two rows of whole vectors, number by number: `to` is the place of the pair in the first panel. Returns the
// largest magnitude as bits, by lane, so far.
FLASH_REF_INLINE __m512i pack_row_pair(const BFloat16* first, const BFloat16* second, std::int64_t dim,
                                       std::int64_t depth, float* to, __m512i largest_so_far) {
  const __m512i low = _mm512_set_epi16(47, 15, 46, 14, 45, 13, 44, 12, 43, 11, 42, 10, 41, 9, 40, 8, 39, 7,
                                       38, 6, 37, 5, 36, 4, 35, 3, 34, 2, 33, 1, 32, 0);
  const __m512i high = _mm512_add_epi16(low, _mm512_set1_epi16(16)), magnitude = _mm512_set1_epi16(0x7fff);
  for (std::int64_t column = 0; column < dim; column += kPanel) {
    const __m512i a = _mm512_loadu_si512(first + column), b = _mm512_loadu_si512(second + column);
    largest_so_far = _mm512_max_epu16(largest_so_far, _mm512_and_si512(a, magnitude));
    largest_so_far = _mm512_max_epu16(largest_so_far, _mm512_and_si512(b, magnitude));
    _mm512_storeu_si512(to + column * depth, _mm512_permutex2var_epi16(a, low, b));
    _mm512_storeu_si512(to + column * depth + kLanes, _mm512_permutex2var_epi16(a, high, b));
  }
  return largest_so_far;
}
#endif

// Values keep their rows: panel p holds columns p * kPanel on, `depth` numbers apart from the next panel.
// Returns whether all of them are finite.
template <class T>
bool pack_values(const T* from, std::int64_t row_stride, std::int64_t dim_stride, std::int64_t count,
                 std::int64_t dim, std::int64_t depth, float* to) {
  constexpr std::int64_t kKeys = kPairs<T> ? 2 : 1;
  const std::int64_t columns = round_up(dim, kLanes);
  Vec check = {};  // 0 as long as all were finite, NaN from then on
  std::int64_t j = 0;
#if defined(__AVX512BF16__)
  if constexpr (kPairs<T>) {
    __m512i largest = _mm512_setzero_si512();
    for (; dim_stride == 1 && dim % kPanel == 0 && j + 1 < count; j += 2) {
      const T* row = from + j * row_stride;
      for (std::int64_t i = 0; i < kKeys; ++i) prefetch_row(from, j + kAhead + i, row_stride, dim);
      largest = pack_row_pair(row, row + row_stride, dim, depth, to + j / kKeys * kPanel, largest);
    }
    if (_mm512_cmpge_epu16_mask(largest, _mm512_set1_epi16(0x7f80)) != 0) check += __builtin_nanf("");
  }
#endif
  for (; j < count; j += kKeys) {
    const T* row = from + j * row_stride;
    for (std::int64_t i = 0; i < kKeys; ++i) prefetch_row(from, j + kAhead + i, row_stride, dim);
    for (std::int64_t column = 0; column < columns; column += kLanes) {
      const std::int64_t start = column / kPanel * kPanel, width = panel_width(start, columns);
      const Vec value = value_numbers(row + column * dim_stride, row_stride, dim_stride,
                                      smaller(kLanes, dim - column), j + 1 < count);
      if constexpr (kPairs<T>) {
        check = multiply_add((Vec)((Bits)value << 16), Vec{}, check);
        check = multiply_add((Vec)((Bits)value & 0xffff0000U), Vec{}, check);
      } else {
        check = multiply_add(value, Vec{}, check);
      }
      store(to + start * depth + j / kKeys * width + (column - start), value);
    }
  }
  return sum_of_lanes(check) == 0.0F;
}

}  // namespace flash_ref::cpu::FLASH_REF_ISA
