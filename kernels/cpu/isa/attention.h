// Attention, forward, one piece: the keys are walked over once, tile by tile, and each tile is packed once
// for all rows of the piece. A row is one query of one head; rows are ordered by query, so that the kRows
// rows of a block see nearly the same keys.
#pragma once

#include "kernels/cpu/isa/pack.h"
#include "kernels/cpu/isa/scores.h"
#include "kernels/cpu/isa/softmax.h"

namespace flash_ref::cpu::FLASH_REF_ISA {

// Keys of a tile: a tile of K and one of V, with the rows of a piece, stay in a second-level cache of 1 MiB.
FLASH_REF_INLINE std::int64_t key_tile(std::int64_t dim) { return dim <= 256 ? 256 : 64; }

// The memory of one thread, cut into tiles. Rows of q and out are `width` floats apart: dim and padding.
struct Tiles {
  std::int64_t width, tile, score_stride;
  float *q, *out, *keys, *values, *scores;
  SoftmaxRow* rows;

  FLASH_REF_INLINE Tiles(std::int64_t dim, std::int64_t row_count, float* memory)
      : width(round_up(dim, kLanes)), tile(key_tile(dim)), score_stride(tile + kLanes) {
    rows = reinterpret_cast<SoftmaxRow*>(memory);
    q = memory + row_count * static_cast<std::int64_t>(sizeof(SoftmaxRow) / sizeof(float));
    out = q + row_count * width;
    keys = out + row_count * width;
    values = keys + width * tile;
    scores = values + width * tile;
  }

  static FLASH_REF_INLINE std::int64_t floats(std::int64_t dim, std::int64_t row_count) {
    const std::int64_t row_width = round_up(dim, kLanes), keys_of_tile = key_tile(dim);
    return row_count * static_cast<std::int64_t>(sizeof(SoftmaxRow) / sizeof(float)) +
           2 * row_width * (row_count + keys_of_tile) + kRows * (keys_of_tile + kLanes);
  }
};

template <class T>
class PieceSolver {
 public:
  FLASH_REF_INLINE PieceSolver(const AttentionPiece& piece, float* memory)
      : piece_(piece), row_count_(piece.heads * piece.queries), tiles_(piece.dim, row_count_, memory) {}

  void solve() {
    load_rows();
    const SoftmaxRow &first = tiles_.rows[0], &last = tiles_.rows[row_count_ - 1];
    const std::int64_t start = first.begin / tiles_.tile * tiles_.tile;  // the same tiles whatever the piece
    for (std::int64_t key = start; key < last.end; key += tiles_.tile) {
      add_keys(key, smaller(tiles_.tile, last.end - key));
    }
    store_rows();
  }

 private:
  void load_rows() {
    const float factor = product_factor(piece_);
    multiple_ = kPairs<T> ? __builtin_fabsf(factor) : 1.0F;
    for (std::int64_t r = 0; r < row_count_; ++r) {
      const std::int64_t query = r / piece_.heads, head = r % piece_.heads;
      const RowStrides& strides = piece_.q_strides;
      pack_row(static_cast<const T*>(piece_.q) + query * strides.row + head * strides.head, strides.dim,
               piece_.dim, factor, tiles_.q + r * tiles_.width);
      tiles_.rows[r] = row_of(piece_, piece_.first_position + query);
      fill(tiles_.out + r * tiles_.width, tiles_.out + (r + 1) * tiles_.width, 0.0F);
    }
  }

  void add_keys(std::int64_t key, std::int64_t count) {
    const KeyPages& pages = piece_.pages;
    const auto keys =
        key_rows<T>(piece_, piece_.k, pages.k_stride, piece_.k_strides, key, count, pages.gathered_k);
    values_ = key_rows<T>(piece_, piece_.v, pages.v_stride, piece_.v_strides, key, count, pages.gathered_v);
    pack_keys(keys.base, keys.row, keys.dim, count, piece_.dim, tiles_.keys);
    const bool finite =
        pack_values(values_.base, values_.row, values_.dim, count, piece_.dim, tiles_.tile, tiles_.values);
    const std::int64_t next = key + tiles_.tile;
    const std::int64_t some =
        piece_.pages.table == nullptr ? smaller(tiles_.tile, piece_.last_key - next) : 0;
    for (std::int64_t row = 0; row < row_count_; row += kRows) {
      const std::int64_t last = smaller(row + kRows, row_count_);
      if (some > 0) fetch_keys(next + some * row / row_count_, next + some * last / row_count_);
      attend(row, static_cast<int>(last - row), key, count, finite);
    }
  }

  // Of the next tile, a few with each block of rows: packing would wait for all of them at once.
  FLASH_REF_INLINE void fetch_keys(std::int64_t first, std::int64_t last) const {
    for (std::int64_t key = first; key < last; ++key) {
      prefetch_row(static_cast<const T*>(piece_.k), key, piece_.k_strides.row, piece_.dim);
      prefetch_row(static_cast<const T*>(piece_.v), key, piece_.v_strides.row, piece_.dim);
    }
  }

  // Ranges grow with the query: the first row of a block begins first, the last one ends last.
  void attend(std::int64_t row, int rows, std::int64_t key, std::int64_t count, bool finite) {
    const std::int64_t begin = larger(tiles_.rows[row].begin - key, 0);
    const std::int64_t end = smaller(tiles_.rows[row + rows - 1].end - key, count);
    if (begin >= end) return;
    const std::int64_t depth = numbers_of<T>(piece_.dim), columns = round_up(count, kLanes);
    const std::int64_t first = begin / kPanel * kPanel;
    std::int64_t column = first;
    for (; column < end; column += kPanel) {
      const std::int64_t width = panel_width(column, columns);
      set_products(row, rows, tiles_.keys + column * depth, width, depth, tiles_.scores + column - first);
    }
    const std::int64_t computed = smaller(column, columns) - first;
    float factors[kRows];
    for (int i = 0; i < rows; ++i) {
      SoftmaxRow& state = tiles_.rows[row + i];
      float* scores = tiles_.scores + i * tiles_.score_stride;
      const bool adjusts = !scores_are_products(piece_);
      if (adjusts) adjust(scores, row + i, key + first, computed);
      const std::int64_t from = smaller(larger(state.begin - key - first, 0), computed);
      const std::int64_t to = smaller(larger(state.end - key - first, 0), computed);
      factors[i] = add_scores<kPairs<T>>(state, scores, from, to, computed, adjusts ? 1.0F : multiple_);
    }
    if (finite) {
      multiply_values(row, rows, first, begin, end, factors);
    } else {
      for (int i = 0; i < rows; ++i) add_visible_values(row + i, i, key + first, key + end, factors[i]);
    }
  }

  // Products with a panel of keys. In float32 long sums lose less when they are put together from parts.
  void set_products(std::int64_t row, int rows, const float* keys, std::int64_t width, std::int64_t depth,
                    float* scores) const {
    constexpr std::int64_t kWhole = 128, kPart = 32;
    const int vectors = static_cast<int>(width / kLanes);
    const float* q = tiles_.q + row * tiles_.width;
    const std::int64_t start = depth <= kWhole ? depth : kPart;
    set_block_of<kPairs<T>>(rows, vectors)(q, tiles_.width, keys, start, scores, tiles_.score_stride);
    for (std::int64_t t = start; t < depth; t += kPart) {
      add_block_of<kPairs<T>>(rows, vectors)(q + t, tiles_.width, keys + t * width, smaller(kPart, depth - t),
                                             scores, tiles_.score_stride, kOnes);
    }
  }

  void adjust(float* scores, std::int64_t row, std::int64_t key, std::int64_t columns) const {
    const RowOfScores<T> rule(piece_, row / piece_.heads, row % piece_.heads);
    Vec derivative;
    for (std::int64_t j = 0; j < columns; j += kLanes) {
      store(scores + j, rule.at(load(scores + j) * broadcast(multiple_), key + j, derivative));
    }
  }

  // Scores of a block start at key `first` of the tile, a multiple of kPanel; keys that a row does not see
  // hold 0.
  void multiply_values(std::int64_t row, int rows, std::int64_t first, std::int64_t begin, std::int64_t end,
                       const float* factors) {
    constexpr std::int64_t kKeys = kPairs<T> ? 2 : 1;
    const std::int64_t from = begin / kKeys, depth = numbers_of<T>(end) - from;
    for (std::int64_t column = 0; column < tiles_.width; column += kPanel) {
      const std::int64_t width = panel_width(column, tiles_.width);
      add_block_of<kPairs<T>>(rows, static_cast<int>(width / kLanes))(
          tiles_.scores + from - first / kKeys, tiles_.score_stride,
          tiles_.values + column * tiles_.tile + from * width, depth,
          tiles_.out + row * tiles_.width + column, tiles_.width, factors);
    }
  }

  // The same for one row, value by value: 0 times a NaN or infinity behind the mask would be NaN, so in a
  // tile that holds such values only those of visible keys are touched. `first` is the key of the row's first
  // score.
  void add_visible_values(std::int64_t row, int score_row, std::int64_t first, std::int64_t end,
                          float factor) {
    const SoftmaxRow& state = tiles_.rows[row];
    const float* scores = tiles_.scores + score_row * tiles_.score_stride;
    for (std::int64_t d = 0; d < piece_.dim; d += kLanes) {
      float* place = tiles_.out + row * tiles_.width + d;
      Vec sum = load(place) * broadcast(factor);
      for (std::int64_t key = larger(first, state.begin); key < smaller(end, state.end); ++key) {
        sum = multiply_add(
            broadcast(probability(scores, key - first)),
            widen_some(values_.at(key) + d * values_.dim, values_.dim, smaller(kLanes, piece_.dim - d)), sum);
      }
      store(place, sum);
    }
  }

  static FLASH_REF_INLINE float probability(const float* scores, std::int64_t index) {
    if constexpr (kPairs<T>) {
      const std::uint32_t bits =
          static_cast<std::uint32_t>(reinterpret_cast<const std::uint16_t*>(scores)[index]) << 16;
      return __builtin_bit_cast(float, bits);
    } else {
      return scores[index];
    }
  }

  void store_rows() {
    for (std::int64_t r = 0; r < row_count_; ++r) store_row(r);
  }

  void store_row(std::int64_t r) {
    const std::int64_t query = r / piece_.heads, head = r % piece_.heads;
    const SoftmaxRow& row = tiles_.rows[r];
    const RowStrides& strides = piece_.out_strides;
    T* out = static_cast<T*>(piece_.out) + query * strides.row + head * strides.head;
    const Vec factor = broadcast(row.sum == 0 ? 0.0F : 1.0F / row.sum);
    for (std::int64_t d = 0; d < piece_.dim; d += kLanes) {
      narrow_some(out + d * strides.dim, strides.dim, smaller(kLanes, piece_.dim - d),
                  load(tiles_.out + r * tiles_.width + d) * factor);
    }
    if (piece_.lse == nullptr) return;
    piece_.lse[query * piece_.lse_strides.row + head * piece_.lse_strides.head] =
        row.sum == 0 ? kNothing : (finite_or_zero(row.maximum) + __builtin_log2f(row.sum)) / kLog2E;
  }

  const AttentionPiece& piece_;
  std::int64_t row_count_;
  float multiple_ = 1;  // by which products of queries and keys are still to be multiplied
  Tiles tiles_;
  KeyRows<T> values_{};  // of the tile that is being added
};

}  // namespace flash_ref::cpu::FLASH_REF_ISA
