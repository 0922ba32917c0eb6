// Attention for few queries and many keys, one range of keys for all the heads of some kv heads. Keys go by
// in tiles, and a tile in steps so short that what a step reads stays in the first-level cache: scores of all
// heads step by step, the softmax of the whole tile, then its values step by step. Memory is read once and
// nearly in the order in which it lies.
#pragma once

#include "kernels/cpu/isa/scores.h"
#include "kernels/cpu/isa/stream.h"

namespace flash_ref::cpu::FLASH_REF_ISA {

constexpr std::int64_t kAheadKeys = 16;    // that are asked for before they are needed
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
    if (key < end) find_rows(key, end, tile_);
    for (; key < end; key += kDecodeTile) {
      const bool has_next = key + kDecodeTile < end;
      if (has_next) find_rows(key + kDecodeTile, end, next_);
      add_tile(key, smaller(kDecodeTile, end - key), has_next);
      tile_ = next_;
    }
    store_rows();
  }

 private:
  // Where the rows of a tile lie, for the first kv head. Those beyond the last key stand at the last key.
  struct TileRows {
    const T *keys[kDecodeTile], *values[kDecodeTile];
  };

  void find_rows(std::int64_t key, std::int64_t end, TileRows& rows) const {
    KeyPlace place(piece_.pages, key);
    for (std::int64_t j = 0; j < kDecodeTile; ++j) {
      rows.keys[j] =
          static_cast<const T*>(piece_.k) + place.offset(piece_.pages.k_stride, piece_.k_strides.row);
      rows.values[j] =
          static_cast<const T*>(piece_.v) + place.offset(piece_.pages.v_stride, piece_.v_strides.row);
      if (key + j + 1 < end) place.step(piece_.pages);
    }
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

  // Rows of K or V, of the kv head that is `offset` behind the first: where they lie, or as padded copies.
  template <int kCount>
  struct StepRows {
    const T* rows[kCount];

    StepRows(const DecodeSolver& solver, const T* const* from, std::int64_t offset, std::int64_t stride) {
      const bool gathers = stride != 1 || solver.piece_.dim != solver.memory_.width;
      for (std::int64_t j = 0; j < kCount; ++j) {
        rows[j] = from[j] + offset;
        if (!gathers) continue;
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

  void add_tile(std::int64_t key, std::int64_t count, bool has_next) {
    const std::int64_t heads = piece_.kv_heads, k_head = piece_.k_strides.head,
                       v_head = piece_.v_strides.head;
    FarRows<T> keys{tile_.keys + kAheadKeys, count - kAheadKeys, k_head, heads, piece_.dim};
    FarRows<T> first_values{tile_.values, smaller(kAheadKeys, count), v_head, heads, piece_.dim};
    NearRows<T> next_step{tile_.keys + kScoreKeys, count - kScoreKeys, k_head, heads, piece_.dim};
    for (std::int64_t step = 0; step < count; step += kScoreKeys) {
      FarRows<T>& ahead = step + kAheadKeys < count ? keys : first_values;
      for (std::int64_t head = 0; head < heads; ++head) {
        ahead.ask(kScoreKeys);
        next_step.ask(kScoreKeys);
        score_step(head, step);
      }
    }
    for (std::int64_t r = 0; r < group_ * heads; ++r) soften(r, key, count);
    FarRows<T> values{tile_.values + kAheadKeys, count - kAheadKeys, v_head, heads, piece_.dim};
    FarRows<T> next_keys{next_.keys, has_next ? kAheadKeys : 0, k_head, heads, piece_.dim};
    NearRows<T> next_values{tile_.values + kValueKeys, count - kValueKeys, v_head, heads, piece_.dim};
    for (std::int64_t step = 0; step < count; step += kValueKeys) {
      FarRows<T>& ahead = step + kAheadKeys < count ? values : next_keys;
      for (std::int64_t head = 0; head < heads; ++head) {
        ahead.ask(kValueKeys);
        next_values.ask(kValueKeys);
        value_step(head, key, step, count);
      }
      if (step == 0) fill(memory_.factors, memory_.factors + group_ * heads, 1.0F);
    }
  }

  void score_step(std::int64_t head, std::int64_t step) {
    const StepRows<kScoreKeys> keys(*this, tile_.keys + step, head * piece_.k_strides.head,
                                    piece_.k_strides.dim);
    each_block(head, [&](std::int64_t first, auto rows) {
      score_keys<T, decltype(rows)::value>(memory_.q + first * memory_.width, memory_.width, keys.rows,
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

  void value_step(std::int64_t head, std::int64_t key, std::int64_t step, std::int64_t count) {
    const StepRows<kValueKeys> values(*this, tile_.values + step, head * piece_.v_strides.head,
                                      piece_.v_strides.dim);
    const std::int64_t first_key = key + step, some = smaller(kValueKeys, count - step);
    each_block(head, [&](std::int64_t first, auto rows) {
      constexpr int kBlockRows = decltype(rows)::value;
      // 0 times a NaN or infinity behind the mask would be NaN: rows that do not see the same keys are
      // multiplied one by one.
      const SoftmaxRow &top = memory_.rows[first], &bottom = memory_.rows[first + kBlockRows - 1];
      const bool alike = within(top.begin, first_key, some) == within(bottom.begin, first_key, some) &&
                         within(top.end, first_key, some) == within(bottom.end, first_key, some);
      if (alike) return add_rows<kBlockRows>(first, first_key, step, some, values.rows);
      for (int i = 0; i < kBlockRows; ++i) add_rows<1>(first + i, first_key, step, some, values.rows);
    });
  }

  template <int kBlockRows>
  void add_rows(std::int64_t first, std::int64_t first_key, std::int64_t step, std::int64_t some,
                const T* const* values) {
    const SoftmaxRow& row = memory_.rows[first];
    const float* probabilities = memory_.scores + first * kDecodeTile + (kPairs<T> ? step / 2 : step);
    add_values<T, kBlockRows>(probabilities, kDecodeTile, memory_.factors + first, values,
                              within(row.begin, first_key, some), within(row.end, first_key, some),
                              memory_.out + first * memory_.width, memory_.width);
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
