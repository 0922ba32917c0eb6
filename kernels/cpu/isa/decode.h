// Attention for few queries and many keys, one range of keys for all the heads of some kv heads. Keys go by
// in tiles: scores of all heads, the softmax of the whole tile, then its values. While the one of K and V is
// worked on in the second-level cache, the other is asked for in the order in which it lies, so that memory
// never waits.
#pragma once

#include "kernels/cpu/isa/scores.h"
#include "kernels/cpu/isa/stream.h"

namespace flash_ref::cpu::FLASH_REF_ISA {

constexpr std::int64_t kFirstKeys = 16;    // that are asked for before the first is needed
constexpr std::int64_t kDecodeTile = 256;  // keys; a multiple of every step and of kLanes

// The memory of one thread. A row of q and out is `width` floats; a row of a gathered step as many elements.
template <class T>
struct DecodeMemory {
  std::int64_t width;
  SoftmaxRow* rows;
  float *q, *out, *scores, *factors;
  T* gathered;

  FLASH_REF_INLINE DecodeMemory(std::int64_t dim, std::int64_t row_count, float* memory)
      : width(round_up(dim, 2 * kLanes)) {
    rows = reinterpret_cast<SoftmaxRow*>(memory);
    q = memory + row_count * static_cast<std::int64_t>(sizeof(SoftmaxRow) / sizeof(float));
    out = q + row_count * width;
    scores = out + row_count * width;
    factors = scores + row_count * kDecodeTile;
    gathered = reinterpret_cast<T*>(factors + row_count);
  }

  static FLASH_REF_INLINE std::int64_t floats(std::int64_t dim, std::int64_t row_count) {
    const std::int64_t row_width = round_up(dim, 2 * kLanes);
    const auto row = static_cast<std::int64_t>(sizeof(SoftmaxRow) / sizeof(float));
    return row_count * (2 * row_width + row + kDecodeTile + 1) + kValueKeys * row_width;
  }
};

template <class T>
class DecodeSolver {
 public:
  FLASH_REF_INLINE DecodeSolver(const AttentionPiece& piece, float* memory)
      : piece_(piece),
        group_(piece.heads * piece.queries),
        memory_(piece.dim, group_ * piece.kv_heads, memory) {}

  void solve() {
    load_rows();
    const std::int64_t end = memory_.rows[group_ - 1].end;  // ranges grow with the query
    std::int64_t key = memory_.rows[0].begin / kDecodeTile * kDecodeTile;
    if (key < end) {
      find_rows(key, end, tile_);
      keys_ahead_ = ahead(tile_.keys, smaller(kDecodeTile, end - key), piece_.k_strides.head);
      keys_ahead_.ask(kFirstKeys * piece_.kv_heads);
    }
    for (; key < end; key += kDecodeTile) {
      const std::int64_t next = key + kDecodeTile;
      if (next < end) find_rows(next, end, next_);
      add_tile(key, smaller(kDecodeTile, end - key), smaller(kDecodeTile, end - next));
      tile_ = next_;
      keys_ahead_.rows = tile_.keys;
    }
    store_rows();
  }

 private:
  // Where the rows of a tile lie, for the first kv head. Those beyond the last key stand at the last key.
  struct TileRows {
    const T *keys[kDecodeTile], *values[kDecodeTile];
  };

  void find_rows(std::int64_t key, std::int64_t end, TileRows& rows) const {
    const T *k = static_cast<const T*>(piece_.k), *v = static_cast<const T*>(piece_.v);
    const std::int64_t k_row = piece_.k_strides.row, v_row = piece_.v_strides.row;
    const std::int64_t count = smaller(kDecodeTile, end - key);
    if (piece_.pages.table == nullptr) {
      for (std::int64_t j = 0; j < count; ++j) rows.keys[j] = k + (key + j) * k_row;
      for (std::int64_t j = 0; j < count; ++j) rows.values[j] = v + (key + j) * v_row;
    } else {
      KeyPlace place(piece_.pages, key);
      for (std::int64_t j = 0; j < count; ++j) {
        rows.keys[j] = k + place.offset(piece_.pages.k_stride, k_row);
        rows.values[j] = v + place.offset(piece_.pages.v_stride, v_row);
        if (j + 1 < count) place.step(piece_.pages);
      }
    }
    for (std::int64_t j = count; j < kDecodeTile; ++j)
      rows.keys[j] = rows.keys[count - 1], rows.values[j] = rows.values[count - 1];
  }

  RowsAhead<T> ahead(const T* const* rows, std::int64_t count, std::int64_t head_stride) const {
    const std::int64_t lines = (piece_.dim * static_cast<std::int64_t>(sizeof(T)) + 63) / 64;
    return {rows, count, head_stride, piece_.kv_heads, lines};
  }

  void load_rows() {
    factor_ = product_factor(piece_);
    for (std::int64_t r = 0; r < group_ * piece_.kv_heads; ++r) {
      const std::int64_t query = r % group_ / piece_.heads;
      const std::int64_t head = r / group_ * piece_.heads + r % piece_.heads;
      const RowStrides& strides = piece_.q_strides;
      const T* row = pad(static_cast<const T*>(piece_.q) + query * strides.row + head * strides.head,
                         strides.dim, memory_.gathered);
      float* to = memory_.q + r * memory_.width;
      for (std::int64_t d = 0; d < memory_.width; d += Columns<T>::kElements) {
        Vec numbers[Columns<T>::kVectors];
        Columns<T>::load_factors(row + d, numbers);
        for (int i = 0; i < Columns<T>::kVectors; ++i, to += kLanes) {
          store(to, kPairs<T> ? numbers[i] : numbers[i] * broadcast(factor_));
        }
      }
      memory_.rows[r] = row_of(piece_, piece_.first_position + query);
      fill(memory_.out + r * memory_.width, memory_.out + (r + 1) * memory_.width, 0.0F);
    }
  }

  const T* pad(const T* from, std::int64_t stride, T* to) const {
    for (std::int64_t d = 0; d < piece_.dim; ++d) to[d] = from[d * stride];
    for (std::int64_t d = piece_.dim; d < memory_.width; ++d) to[d] = T{};
    return to;
  }

  // Rows whose elements have gaps, or whose number is no multiple of what is read at a time, are copied.
  FLASH_REF_INLINE bool gathers(const RowStrides& strides) const {
    return strides.dim != 1 || piece_.dim != memory_.width;
  }

  template <int kCount>
  struct Copies {
    const T* rows[kCount];

    Copies(const DecodeSolver& solver, const T* const* from, std::int64_t offset, std::int64_t stride) {
      for (std::int64_t j = 0; j < kCount; ++j) {
        rows[j] =
            j > 0 && from[j] == from[j - 1]
                ? rows[j - 1]
                : solver.pad(from[j] + offset, stride, solver.memory_.gathered + j * solver.memory_.width);
      }
    }
  };

  // Calls body(head, first row, number of rows as a constant) for all blocks of rows of a kv head.
  template <class Body>
  FLASH_REF_INLINE void each_block(std::int64_t head, const Body& body) const {
    for (std::int64_t row = 0; row < group_; row += kStreamRows) {
      const std::int64_t first = head * group_ + row;
      switch (smaller(kStreamRows, group_ - row)) {
        case 4:
          body(first, Constant<4>{});
          break;
        case 3:
          body(first, Constant<3>{});
          break;
        case 2:
          body(first, Constant<2>{});
          break;
        default:
          body(first, Constant<1>{});
      }
    }
  }

  template <int kNumber>
  struct Constant {
    static constexpr int value = kNumber;
  };

  // `next` keys follow in the next tile, perhaps none.
  void add_tile(std::int64_t key, std::int64_t count, std::int64_t next) {
    RowsAhead<T> values = ahead(tile_.values, count, piece_.v_strides.head);
    const TilesAhead<T> with_keys{&keys_ahead_, &values}, with_values{&values, &keys_ahead_};
    for (std::int64_t head = 0; head < piece_.kv_heads; ++head) {
      for (std::int64_t step = 0; step < count; step += kScoreKeys) {
        with_keys.ask(kScoreKeys);
        score_step(head, step);
      }
    }
    for (std::int64_t r = 0; r < group_ * piece_.kv_heads; ++r) soften(r, key, count);
    keys_ahead_ = ahead(next_.keys, next, piece_.k_strides.head);
    for (std::int64_t head = 0; head < piece_.kv_heads; ++head) add_values_of(head, key, count, with_values);
  }

  void score_step(std::int64_t head, std::int64_t step) {
    const std::int64_t offset = head * piece_.k_strides.head;
    if (gathers(piece_.k_strides)) {
      const Copies<kScoreKeys> copies(*this, tile_.keys + step, offset, piece_.k_strides.dim);
      score_rows(head, step, copies.rows, 0);
    } else {
      score_rows(head, step, tile_.keys + step, offset);
    }
  }

  FLASH_REF_INLINE void score_rows(std::int64_t head, std::int64_t step, const T* const* keys,
                                   std::int64_t offset) {
    each_block(head, [&](std::int64_t first, auto rows) {
      score_keys<T, decltype(rows)::value>(memory_.q + first * memory_.width, memory_.width, keys, offset,
                                           memory_.scores + first * kDecodeTile + step, kDecodeTile, factor_);
    });
  }

  // Scores of one row to probabilities.
  void soften(std::int64_t r, std::int64_t key, std::int64_t count) {
    const std::int64_t columns = round_up(count, kLanes);
    float* scores = memory_.scores + r * kDecodeTile;
    if (!scores_are_products(piece_)) {
      const RowOfScores<T> rule(piece_, r % group_ / piece_.heads,
                                r / group_ * piece_.heads + r % piece_.heads);
      Vec derivative;
      for (std::int64_t j = 0; j < columns; j += kLanes) {
        store(scores + j, rule.at(load(scores + j), key + j, derivative));
      }
    }
    SoftmaxRow& row = memory_.rows[r];
    memory_.factors[r] = add_scores<kPairs<T>>(row, scores, within(row.begin, key, count),
                                               within(row.end, key, count), columns);
  }

  static FLASH_REF_INLINE std::int64_t within(std::int64_t bound, std::int64_t first, std::int64_t count) {
    return smaller(larger(bound - first, 0), count);
  }

  void add_values_of(std::int64_t head, std::int64_t key, std::int64_t count, const TilesAhead<T>& next) {
    const std::int64_t offset = head * piece_.v_strides.head;
    if (!gathers(piece_.v_strides)) return add_keys(head, key, 0, count, tile_.values, offset, next);
    for (std::int64_t step = 0; step < count; step += kValueKeys) {
      const Copies<kValueKeys> copies(*this, tile_.values + step, offset, piece_.v_strides.dim);
      add_keys(head, key, step, smaller(kValueKeys, count - step), copies.rows, 0, next);
    }
  }

  // Keys [step, step + some) of the tile that starts at `key`; `values` is that of the first one.
  void add_keys(std::int64_t head, std::int64_t key, std::int64_t step, std::int64_t some,
                const T* const* values, std::int64_t offset, const TilesAhead<T>& ahead) {
    each_block(head, [&](std::int64_t first, auto rows) {
      constexpr int kBlockRows = decltype(rows)::value;
      const auto begin = [&](int i) { return within(memory_.rows[first + i].begin, key + step, some); };
      const auto end = [&](int i) { return within(memory_.rows[first + i].end, key + step, some); };
      // 0 times a NaN or infinity behind the mask would be NaN: keys that only some rows see are added row by
      // row.
      const std::int64_t from = begin(kBlockRows - 1), to = end(0);
      const bool apart = begin(0) != from || end(kBlockRows - 1) != to;
      if (!apart || from < to) {
        for (int i = 0; apart && i < kBlockRows; ++i)
          add_rows<1>(first + i, step, begin(i), from, values, offset, ahead);
        add_rows<kBlockRows>(first, step, from, to, values, offset, ahead);
        for (int i = 0; apart && i < kBlockRows; ++i)
          add_rows<1>(first + i, step, to, end(i), values, offset, ahead);
      } else {
        for (int i = 0; i < kBlockRows; ++i)
          add_rows<1>(first + i, step, begin(i), end(i), values, offset, ahead);
      }
    });
  }

  // Their sums so far are scaled by the factors, once for a tile.
  template <int kBlockRows>
  FLASH_REF_INLINE void add_rows(std::int64_t first, std::int64_t step, std::int64_t from, std::int64_t to,
                                 const T* const* values, std::int64_t offset, const TilesAhead<T>& ahead) {
    const float* probabilities = memory_.scores + first * kDecodeTile + (kPairs<T> ? step / 2 : step);
    add_values<T, kBlockRows>(probabilities, kDecodeTile, memory_.factors + first, values, offset, from, to,
                              memory_.out + first * memory_.width, memory_.width, ahead);
    fill(memory_.factors + first, memory_.factors + first + kBlockRows, 1.0F);
  }

  void store_rows() {
    for (std::int64_t r = 0; r < group_ * piece_.kv_heads; ++r) {
      float* target = piece_.unfinished + r * (piece_.dim + 2);
      const float* sums = memory_.out + r * memory_.width;
      for (std::int64_t d = 0; d < piece_.dim; ++d) target[d] = sums[Columns<T>::place(d)];
      target[piece_.dim] = memory_.rows[r].maximum;
      target[piece_.dim + 1] = memory_.rows[r].sum;
    }
  }

  const AttentionPiece& piece_;
  std::int64_t group_;  // rows of a kv head
  float factor_ = 0;    // of the products of queries and keys
  DecodeMemory<T> memory_;
  TileRows tile_, next_;
  RowsAhead<T> keys_ahead_;  // of the tile that is worked on, later of the next one
};

// The rows of one kv head that `parts` pieces left unfinished, `stride` floats apart from part to part, each
// scaled to their common maximum, added up and stored. `sums` holds dim floats and padding.
template <class T>
void join_rows(const AttentionPiece& piece, const float* unfinished, std::int64_t parts, std::int64_t stride,
               float* sums) {
  for (std::int64_t r = 0; r < piece.heads * piece.queries; ++r) {
    const float* row = unfinished + r * (piece.dim + 2);
    float maximum_of_row = kNothing, sum = 0;
    for (std::int64_t i = 0; i < parts; ++i) {
      const float maximum_of_part = row[i * stride + piece.dim];
      if (maximum_of_part > maximum_of_row) maximum_of_row = maximum_of_part;
    }
    fill(sums, sums + piece.dim, 0.0F);
    for (std::int64_t i = 0; i < parts; ++i) {
      const float* part = row + i * stride;
      const float factor = exp2_nonpositive(broadcast(part[piece.dim] - finite_or_zero(maximum_of_row)))[0];
      sum += part[piece.dim + 1] * factor;
      for (std::int64_t d = 0; d < piece.dim; ++d) sums[d] += part[d] * factor;
    }
    const std::int64_t query = r / piece.heads, head = r % piece.heads;
    const RowStrides& strides = piece.out_strides;
    T* out = static_cast<T*>(piece.out) + query * strides.row + head * strides.head;
    const Vec factor = broadcast(sum == 0 ? 0.0F : 1.0F / sum);
    for (std::int64_t d = 0; d < piece.dim; d += kLanes) {
      narrow_some(out + d * strides.dim, strides.dim, smaller(kLanes, piece.dim - d),
                  load(sums + d) * factor);
    }
    if (piece.lse == nullptr) continue;
    piece.lse[query * piece.lse_strides.row + head * piece.lse_strides.head] =
        sum == 0 ? kNothing : (finite_or_zero(maximum_of_row) + __builtin_log2f(sum)) / kLog2E;
  }
}

}  // namespace flash_ref::cpu::FLASH_REF_ISA
