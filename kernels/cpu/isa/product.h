// The microkernel: a block of up to kRows x kVectors vectors of C = A B, held in registers while it runs
// along the depth. Each step loads one packed row of B and multiplies it by one number of each row of A.
// Attention spends its time here, for scores (A = queries, B = packed keys) and for the output (A =
// probabilities, B = packed values).
//
// Numbers are floats, or pairs of bfloat16 neighbours along the depth where the instruction set multiplies
// those faster (the template parameter kPaired); either way they take 32 bits.
//
// A is read row by row, or column by column where it lies transposed (kTransposed): then its rows are
// neighbours.
//
// B comes in panels: a panel is depth x (up to kVectors * kLanes) floats without gaps, columns padded to
// kLanes.
#pragma once

#include "kernels/cpu/isa/vector.h"

namespace flash_ref::cpu::FLASH_REF_ISA {

constexpr std::int64_t kPanel = kVectors * kLanes;  // columns of a full panel

template <bool kPaired, bool kTransposed, int kBlockRows, int kBlockVectors>
FLASH_REF_INLINE void multiply(const float* a, std::int64_t a_stride, const float* b, std::int64_t depth,
                               Vec (&c)[kBlockRows][kBlockVectors]) {
#pragma GCC unroll 16
  for (int i = 0; i < kBlockRows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kBlockVectors; ++j) c[i][j] = Vec{};
  }
  for (std::int64_t t = 0; t < depth; ++t) {
    Vec row[kBlockVectors];
#pragma GCC unroll 4
    for (int j = 0; j < kBlockVectors; ++j) row[j] = load(b + (t * kBlockVectors + j) * kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < kBlockRows; ++i) {
      const Vec number = broadcast(kTransposed ? a[t * a_stride + i] : a[i * a_stride + t]);
#pragma GCC unroll 4
      for (int j = 0; j < kBlockVectors; ++j) {
        c[i][j] =
            kPaired ? multiply_add_pairs(number, row[j], c[i][j]) : multiply_add(number, row[j], c[i][j]);
      }
    }
  }
}

// C = A B.
template <bool kPaired, int kBlockRows, int kBlockVectors>
void set_block(const float* a, std::int64_t a_stride, const float* b, std::int64_t depth, float* c,
               std::int64_t c_stride) {
  Vec block[kBlockRows][kBlockVectors];
  multiply<kPaired, false, kBlockRows, kBlockVectors>(a, a_stride, b, depth, block);
#pragma GCC unroll 16
  for (int i = 0; i < kBlockRows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kBlockVectors; ++j) store(c + i * c_stride + j * kLanes, block[i][j]);
  }
}

// C = factor C + A B, one factor for each row.
template <bool kPaired, bool kTransposed, int kBlockRows, int kBlockVectors>
void add_block(const float* a, std::int64_t a_stride, const float* b, std::int64_t depth, float* c,
               std::int64_t c_stride, const float* factors) {
  Vec block[kBlockRows][kBlockVectors];
  multiply<kPaired, kTransposed, kBlockRows, kBlockVectors>(a, a_stride, b, depth, block);
#pragma GCC unroll 16
  for (int i = 0; i < kBlockRows; ++i) {
    const Vec factor = broadcast(factors[i]);
#pragma GCC unroll 4
    for (int j = 0; j < kBlockVectors; ++j) {
      float* place = c + i * c_stride + j * kLanes;
      store(place, multiply_add(factor, load(place), block[i][j]));
    }
  }
}

// The factors of C += A B.
constexpr float kOnes[12] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
static_assert(kRows <= 12);

using SetFunction = void (*)(const float*, std::int64_t, const float*, std::int64_t, float*, std::int64_t);
using AddFunction = void (*)(const float*, std::int64_t, const float*, std::int64_t, float*, std::int64_t,
                             const float*);

// The instance for `rows` rows and `vectors` vectors.
template <bool kPaired, int kBlockRows = kRows>
SetFunction set_block_of(int rows, int vectors) {
  if constexpr (kBlockRows > 1) {
    if (rows < kBlockRows) return set_block_of<kPaired, kBlockRows - 1>(rows, vectors);
  }
  return vectors == 1 ? set_block<kPaired, kBlockRows, 1> : set_block<kPaired, kBlockRows, kVectors>;
}

template <bool kPaired, bool kTransposed = false, int kBlockRows = kRows>
AddFunction add_block_of(int rows, int vectors) {
  if constexpr (kBlockRows > 1) {
    if (rows < kBlockRows) return add_block_of<kPaired, kTransposed, kBlockRows - 1>(rows, vectors);
  }
  return vectors == 1 ? add_block<kPaired, kTransposed, kBlockRows, 1>
                      : add_block<kPaired, kTransposed, kBlockRows, kVectors>;
}

// The width of the panel that starts at `column` of `columns`, itself a multiple of kLanes.
FLASH_REF_INLINE std::int64_t panel_width(std::int64_t column, std::int64_t columns) {
  return smaller(kPanel, columns - column);
}

}  // namespace flash_ref::cpu::FLASH_REF_ISA
