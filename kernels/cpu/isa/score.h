// What the attention kernels have in common: the keys that a query sees, and where a key lies.
#pragma once

#include "kernels/cpu/isa/softmax.h"
#include "kernels/cpu/piece.h"

namespace flash_ref::cpu::FLASH_REF_ISA {

constexpr float kLog2E = 1.44269504F;

// A row that has seen nothing yet, with the keys that the query at `position` sees.
FLASH_REF_INLINE SoftmaxRow row_of(const AttentionPiece& piece, std::int64_t position) {
  SoftmaxRow row{kNothing, 0, piece.first_key, piece.last_key};
  if (piece.window != 0) {
    row.begin = larger(row.begin, position - piece.window + 1);
    row.end = smaller(row.end, position + piece.window);
  }
  if (piece.causal) row.end = smaller(row.end, position + 1);
  row.begin = smaller(row.begin, piece.last_key);
  row.end = larger(row.end, row.begin);
  return row;
}

// The page and slot of a key; it moves on key by key.
struct KeyPlace {
  std::int64_t number = 0, page = 0, slot;

  FLASH_REF_INLINE KeyPlace(const KeyPages& pages, std::int64_t key) : slot(key) {
    if (pages.table == nullptr) return;
    number = key / pages.size;
    slot = key % pages.size;
    page = pages.table[number * pages.table_stride];
  }

  FLASH_REF_INLINE void step(const KeyPages& pages) {
    ++slot;
    if (pages.table == nullptr || slot < pages.size) return;
    slot = 0;
    page = pages.table[++number * pages.table_stride];
  }

  FLASH_REF_INLINE std::int64_t offset(std::int64_t page_stride, std::int64_t slot_stride) const {
    return page * page_stride + slot * slot_stride;
  }
};

// Rows of K or V one behind the other, from key `first` on.
template <class T>
struct KeyRows {
  const T* base;
  std::int64_t row, dim, first;

  FLASH_REF_INLINE const T* at(std::int64_t key) const { return base + (key - first) * row; }
};

// Keys [key, key + count): where they lie, or put together in `gathered` where they are in several pages.
template <class T>
KeyRows<T> key_rows(const AttentionPiece& piece, const void* first, std::int64_t page_stride,
                    const RowStrides& strides, std::int64_t key, std::int64_t count, void* gathered) {
  const T* base = static_cast<const T*>(first);
  KeyPlace place(piece.pages, key);
  if (piece.pages.table == nullptr || place.slot + count <= piece.pages.size) {
    return {base + place.offset(page_stride, strides.row), strides.row, strides.dim, key};
  }
  T* rows = static_cast<T*>(gathered);
  for (std::int64_t j = 0; j < count; ++j) {
    const T* from = base + place.offset(page_stride, strides.row);
    for (std::int64_t d = 0; d < piece.dim; ++d) rows[j * piece.dim + d] = from[d * strides.dim];
    if (j + 1 < count) place.step(piece.pages);
  }
  return {rows, piece.dim, 1, key};
}

}  // namespace flash_ref::cpu::FLASH_REF_ISA
