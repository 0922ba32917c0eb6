// Attention, backward: what a thread keeps while a block of keys meets tiles of rows.
#pragma once

#include "kernels/cpu/isa/convert.h"
#include "kernels/cpu/isa/vector.h"

namespace flash_ref::cpu::FLASH_REF_ISA {

// Chosen for what a block and a tile hold to stay in a second-level cache of 1 MiB.
template <class T>
constexpr std::int64_t kBwdRows = kPairs<T> ? 192 : 96;  // a multiple of 2 * kRows, or of kRows
FLASH_REF_INLINE std::int64_t bwd_keys(std::int64_t dim) { return dim <= 64 ? 256 : dim <= 128 ? 128 : 64; }
FLASH_REF_INLINE std::int64_t bwd_width(std::int64_t dim) { return round_up(dim, kLanes); }

constexpr std::int64_t kFewKeys = 16;  // of a row; a multiple of kLanes

struct BwdRow {
  float lse;  // in base 2
  float delta, rest, weight;
  std::int64_t begin, end;  // the keys of the block that the row sees, counted from the block's first
  bool sees_few;            // in all, and all of them in the block
  float p, ds, ds_size;     // what the block adds to those of AttentionBwdRow
};

// The memory of one thread. P and dS lie as the products read them: numbers of kBwdRows rows, where two rows
// make one row of pairs, by the keys of the block; ds_rows has rows of pairs of keys instead. Without pairs
// all three are plain matrices, and ds_rows is ds.
template <class T>
struct BwdMemory {
  static constexpr std::int64_t kTile = kBwdRows<T>;

  std::int64_t width, keys, stride;
  bool *keys_finite, *q_finite, *dout_finite;
  BwdRow* rows;
  float *key_columns, *value_columns, *key_values, *dk, *dv;  // of the block
  float *q, *dout, *q_values, *dout_values;                   // of the tile
  float *p, *ds, *ds_rows, *scores, *dp;

  FLASH_REF_INLINE BwdMemory(std::int64_t dim, void* memory)
      : width(bwd_width(dim)), keys(bwd_keys(dim)), stride(keys + kLanes) {
    keys_finite = static_cast<bool*>(memory);
    q_finite = keys_finite + 1;
    dout_finite = keys_finite + 2;
    rows = reinterpret_cast<BwdRow*>(static_cast<char*>(memory) + 64);
    float* next = reinterpret_cast<float*>(rows + kTile);
    float** const of_block[] = {&key_columns, &value_columns, &key_values, &dk, &dv};
    for (float** part : of_block) *part = next, next += keys * width;
    float** const of_tile[] = {&q, &dout, &q_values, &dout_values};
    for (float** part : of_tile) *part = next, next += kTile * width;
    p = next;
    ds = p + kTile * stride;
    ds_rows = kPairs<T> ? ds + kTile * stride : ds;
    scores = ds_rows + kTile * stride;
    dp = scores + kRows * stride;
  }

  static FLASH_REF_INLINE std::size_t bytes(std::int64_t dim) {
    const std::int64_t row = bwd_keys(dim) + kLanes;
    const std::int64_t floats =
        bwd_width(dim) * (5 * bwd_keys(dim) + 4 * kTile) + row * (3 * kTile + 2 * kRows);
    return 64 + kTile * sizeof(BwdRow) + static_cast<std::size_t>(floats) * sizeof(float);
  }
};

}  // namespace flash_ref::cpu::FLASH_REF_ISA
