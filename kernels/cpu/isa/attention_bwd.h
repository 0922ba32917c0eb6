// Attention, backward, one block of keys: its keys and values are packed once, then tiles of rows go by. For
// each tile the scores are computed again, P and dS follow from lse and delta, and three products use them
// (formulae: kernels/formulae.md). A row is one query of one head, ordered by query, as in attention.h.
#pragma once

#include "kernels/cpu/isa/attention_bwd_memory.h"
#include "kernels/cpu/isa/pack.h"
#include "kernels/cpu/isa/scores.h"
#include "kernels/cpu/isa/softmax.h"

namespace flash_ref::cpu::FLASH_REF_ISA {

// What a packed row holds.
template <class T, bool kPaired = kPairs<T>>
struct PackedElement {
  using Type = float;
};
template <class T>
struct PackedElement<T, true> {
  using Type = T;
};

// What the rounding of an element of out may amount to, in proportion to it: half an ulp and a little; with
// bfloat16 also those of the probabilities in it. And the smallest normal number, below which it is no less.
template <class T>
constexpr float kDoubt = 0x1.2p-11F;
template <>
inline constexpr float kDoubt<BFloat16> = 0x1.8p-8F;
template <class T>
constexpr float kSmallest = 0x1p-14F;
template <>
inline constexpr float kSmallest<BFloat16> = 0x1p-126F;

template <class T>
class BwdSolver {
 public:
  FLASH_REF_INLINE BwdSolver(const AttentionBwdPiece& piece, void* memory)
      : piece_(piece), all_(piece.forward), memory_(all_.dim, memory) {}

  void start_keys() {
    const RowStrides &k = all_.k_strides, &v = all_.v_strides;
    const T* keys = static_cast<const T*>(all_.k) + all_.first_key * k.row;
    const T* values = static_cast<const T*>(all_.v) + all_.first_key * v.row;
    pack_keys(keys, k.row, k.dim, count(), all_.dim, memory_.key_columns);
    pack_keys(values, v.row, v.dim, count(), all_.dim, memory_.value_columns);
    *memory_.keys_finite =
        pack_values(keys, k.row, k.dim, count(), all_.dim, memory_.keys, memory_.key_values);
    *memory_.largest_key = 0.0F;
    for (std::int64_t key = 0; key < count(); ++key) {
      const float size = size_of(keys + key * k.row, k.dim);
      if (!(size <= *memory_.largest_key)) *memory_.largest_key = size;
    }
    fill(memory_.dk, memory_.dk + memory_.keys * memory_.width, 0.0F);
    fill(memory_.dv, memory_.dv + memory_.keys * memory_.width, 0.0F);
  }

  void add_rows(std::int64_t first, std::int64_t last) {
    const std::int64_t rows = last - first;
    load_rows(first, rows);
    for (std::int64_t row = 0; row < rows; row += kRows) {
      differentiate(first, row, static_cast<int>(smaller(kRows, rows - row)));
    }
    add_transposed(memory_.p, memory_.dout, memory_.dout_values, *memory_.dout_finite, rows, memory_.dv);
    add_transposed(memory_.ds, memory_.q, memory_.q_values, *memory_.q_finite, rows, memory_.dk);
  }

  // dq_sums += dS k.
  void add_dq(std::int64_t first, std::int64_t last) {
    constexpr std::int64_t kKeys = kPairs<T> ? 2 : 1;
    for (std::int64_t row = 0; row < last - first; ++row) {
      AttentionBwdRow& kept = piece_.rows[first + row];
      if (memory_.rows[row].p_doubt > kept.p_doubt) kept.p_doubt = memory_.rows[row].p_doubt;
      kept.p += memory_.rows[row].p, kept.ds += memory_.rows[row].ds,
          kept.ds_size += memory_.rows[row].ds_size;
    }
    for (std::int64_t row = 0; row < last - first; row += kRows) {
      const int rows = static_cast<int>(smaller(kRows, last - first - row));
      const std::int64_t begin = memory_.rows[row].begin, end = memory_.rows[row + rows - 1].end;
      float* sums = piece_.dq_sums + (first + row) * memory_.width;
      if (begin >= end) continue;
      if (!*memory_.keys_finite) {
        for (int i = 0; i < rows; ++i) add_visible_keys(row + i, sums + i * memory_.width);
        continue;
      }
      const std::int64_t from = begin / kKeys, depth = numbers_of<T>(end) - from;
      for (std::int64_t column = 0; column < memory_.width; column += kPanel) {
        const std::int64_t width = panel_width(column, memory_.width);
        add_block_of<kPairs<T>>(rows, static_cast<int>(width / kLanes))(
            memory_.ds_rows + row * memory_.stride + from, memory_.stride,
            memory_.key_values + column * memory_.keys + from * width, depth, sums + column, memory_.width,
            kOnes);
      }
    }
  }

  void finish_keys() {
    for (std::int64_t key = 0; key < count(); ++key) {
      store_row(memory_.dk + key * memory_.width, all_.scale, piece_.dk, piece_.dk_strides,
                all_.first_key + key, 0);
      store_row(memory_.dv + key * memory_.width, 1.0F, piece_.dv, piece_.dv_strides, all_.first_key + key,
                0);
    }
  }

  void prepare(std::int64_t first, std::int64_t last) {
    const RowStrides &dout = piece_.dout_strides, &out = all_.out_strides;
    for (std::int64_t r = first; r < last; ++r) {
      const T* a = row_in(static_cast<const T*>(piece_.dout), dout, r);
      const T* b = row_in(static_cast<const T*>(all_.out), out, r);
      Vec sum = {}, sizes = {};
      for (std::int64_t d = 0; d < all_.dim; d += kLanes) {
        const std::int64_t some = smaller(kLanes, all_.dim - d);
        const Vec slope = widen_some(a + d * dout.dim, dout.dim, some),
                  value = widen_some(b + d * out.dim, out.dim, some);
        sum = multiply_add(slope, value, sum);
        sizes = multiply_add(magnitude(slope), maximum(magnitude(value), broadcast(kSmallest<T>)), sizes);
      }
      AttentionBwdRow& row = piece_.rows[r];
      row = {};
      row.delta = sum_of_lanes(sum), row.doubt = kDoubt<T> * sum_of_lanes(sizes);
      row.weight = 1.0F;
    }
  }

  void finish_rows(std::int64_t first, std::int64_t last) {
    for (std::int64_t r = first; r < last; ++r) {
      store_row(piece_.dq_sums + r * memory_.width, all_.scale, piece_.dq, piece_.dq_strides, r / all_.heads,
                r % all_.heads);
    }
  }

 private:
  using Packed = typename PackedElement<T>::Type;
  // Elements of a packed row.
  static constexpr std::int64_t kPerFloat = kPairs<T> ? 2 : 1;

  FLASH_REF_INLINE std::int64_t count() const { return all_.last_key - all_.first_key; }

  template <class Pointer>
  FLASH_REF_INLINE Pointer row_in(Pointer base, const RowStrides& strides, std::int64_t r) const {
    return base + r / all_.heads * strides.row + r % all_.heads * strides.head;
  }

  void store_row(const float* sums, float factor, void* base, const RowStrides& strides, std::int64_t row,
                 std::int64_t head) const {
    T* to = static_cast<T*>(base) + row * strides.row + head * strides.head;
    for (std::int64_t d = 0; d < all_.dim; d += kLanes) {
      narrow_some(to + d * strides.dim, strides.dim, smaller(kLanes, all_.dim - d),
                  load(sums + d) * broadcast(factor));
    }
  }

  // The root of the sum of squares.
  FLASH_REF_INLINE float size_of(const T* row, std::int64_t stride) const {
    Vec sum = {};
    for (std::int64_t d = 0; d < all_.dim; d += kLanes) {
      const Vec value = widen_some(row + d * stride, stride, smaller(kLanes, all_.dim - d));
      sum = multiply_add(value, value, sum);
    }
    return __builtin_sqrtf(sum_of_lanes(sum));
  }

  // What roundings of lse, in base 2, and of scores may do to the sum of P: a few of lse's own size, of that
  // of the products, which may cancel, and of the sum.
  FLASH_REF_INLINE float doubt_of_p(float lse, float q_size) const {
    const float products = q_size * *memory_.largest_key * __builtin_fabsf(all_.scale) * kLog2E;
    return 0x1p-22F * (__builtin_fabsf(lse) + products + 4.0F);
  }

  FLASH_REF_INLINE float base2_lse(std::int64_t r) const {
    const float lse = *row_in(static_cast<const float*>(all_.lse), all_.lse_strides, r);
    return finite_or_zero(plain_nan(lse) * kLog2E);
  }

  void load_rows(std::int64_t first, std::int64_t rows) {
    const RowStrides &q = all_.q_strides, &dout = piece_.dout_strides;
    const std::int64_t width = memory_.width, row_elements = width * kPerFloat;
    AttentionPiece whole = all_;
    whole.first_key = 0, whole.last_key = piece_.keys;
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::int64_t r = first + i;
      pack_row(row_in(static_cast<const T*>(all_.q), q, r), q.dim, all_.dim, 1.0F, memory_.q + i * width);
      pack_row(row_in(static_cast<const T*>(piece_.dout), dout, r), dout.dim, all_.dim, 1.0F,
               memory_.dout + i * width);
      BwdRow& row = memory_.rows[i];
      row.lse = base2_lse(r);
      row.p_doubt = doubt_of_p(row.lse, size_of(row_in(static_cast<const T*>(all_.q), q, r), q.dim));
      row.delta = piece_.rows[r].delta, row.rest = piece_.rows[r].rest, row.weight = piece_.rows[r].weight;
      const SoftmaxRow seen = FLASH_REF_ISA::row_of(all_, all_.first_position + r / all_.heads);
      row.begin = seen.begin - all_.first_key;
      row.end = seen.end - all_.first_key;
      const SoftmaxRow of_all = FLASH_REF_ISA::row_of(whole, all_.first_position + r / all_.heads);
      row.sees_few = seen.begin < seen.end && of_all.end - of_all.begin <= kFewKeys &&
                     of_all.begin == seen.begin && of_all.end == seen.end;
    }
    *memory_.q_finite = pack_values(reinterpret_cast<const Packed*>(memory_.q), row_elements, 1, rows,
                                    all_.dim, memory_.kTile, memory_.q_values);
    *memory_.dout_finite = pack_values(reinterpret_cast<const Packed*>(memory_.dout), row_elements, 1, rows,
                                       all_.dim, memory_.kTile, memory_.dout_values);
  }

  // P and dS of kRows rows.
  void differentiate(std::int64_t first, std::int64_t row, int rows) {
    const std::int64_t columns = round_up(count(), kLanes), depth = numbers_of<T>(all_.dim);
    const std::int64_t begin = memory_.rows[row].begin, end = memory_.rows[row + rows - 1].end;
    float* scores = kPairs<T> ? memory_.scores : memory_.p + row * memory_.stride;
    float* dp = kPairs<T> ? memory_.dp : memory_.ds + row * memory_.stride;
    for (std::int64_t column = begin / kPanel * kPanel; column < end; column += kPanel) {
      const std::int64_t width = panel_width(column, columns);
      const SetFunction product = set_block_of<kPairs<T>>(rows, static_cast<int>(width / kLanes));
      product(memory_.q + row * memory_.width, memory_.width, memory_.key_columns + column * depth, depth,
              scores + column, memory_.stride);
      product(memory_.dout + row * memory_.width, memory_.width, memory_.value_columns + column * depth,
              depth, dp + column, memory_.stride);
    }
    for (int i = 0; i < rows; ++i) {
      float *scores_of_row = scores + i * memory_.stride, *dp_of_row = dp + i * memory_.stride;
      const std::int64_t r = first + row + i;
      BwdRow& of = memory_.rows[row + i];
      if (!scores_are_products(all_)) {
        differentiate_row<true, true>(of, r, scores_of_row, dp_of_row, columns);
      } else if (of.sees_few || of.weight != 1 || of.rest != 0) {
        differentiate_row<false, true>(of, r, scores_of_row, dp_of_row, columns);
      } else {
        differentiate_row<false, false>(of, r, scores_of_row, dp_of_row, columns);
      }
    }
    if constexpr (kPairs<T>) {
      for (int i = 0; i < rows; i += 2) store_pairs(row + i, i, i + 1 < rows, columns);
    }
  }

  // The sum of p (dp - delta) over few keys.
  FLASH_REF_INLINE float weighted(const float* p, const float* dp, float delta) const {
    Vec sum = {};
    for (std::int64_t i = 0; i < kFewKeys; i += kLanes)
      sum = multiply_add(load(p + i), load(dp + i) - broadcast(delta), sum);
    return sum_of_lanes(sum);
  }

  // A row that sees few keys, all of them in this block, with lse and delta from its own scores and dP. What
  // was given for them carries the roundings of lse and out, and these would be all that is left of dS where
  // dP - delta cancels: a row with one key has dS = 0 exactly.
  template <bool kAdjusted>
  BwdRow settled(const BwdRow& row, const RowOfScores<T>& rule, const float* scores, const float* dp) const {
    float visible[kFewKeys], derivatives[kFewKeys];
    fill(visible, visible + kFewKeys, kNothing), fill(derivatives, derivatives + kFewKeys, 0.0F);
    for (std::int64_t j = row.begin / kLanes * kLanes; j < row.end; j += kLanes) {
      Vec score = load(scores + j) * broadcast(product_factor(all_)), derivative;
      if constexpr (kAdjusted) score = rule.at(score, all_.first_key + j, derivative);
      for (std::int64_t key = larger(j, row.begin); key < smaller(j + kLanes, row.end); ++key) {
        visible[key - row.begin] = score[key - j];
        derivatives[key - row.begin] = dp[key];
      }
    }
    const float maximum_of_row = largest(visible, kFewKeys, kNothing);
    Vec sum = {};
    for (std::int64_t i = 0; i < kFewKeys; i += kLanes) {
      const Vec p = exp2_nonpositive(load(visible + i) - broadcast(finite_or_zero(maximum_of_row)));
      store(visible + i, p);
      sum += p;
    }
    const float total = sum_of_lanes(sum);
    if (!(__builtin_fabsf(maximum_of_row + __builtin_log2f(total) - row.lse) <= row.p_doubt)) return row;
    BwdRow result = row;
    result.lse = maximum_of_row, result.weight = 1.0F / total;
    result.delta = weighted(visible, derivatives, 0.0F) * result.weight;
    result.rest = weighted(visible, derivatives, result.delta) * result.weight;
    return result;
  }

  // Scores become P, dP becomes dS; 0 where the row sees no key.
  template <bool kAdjusted, bool kCorrected>
  void differentiate_row(BwdRow& given, std::int64_t r, float* scores, float* dp,
                         std::int64_t columns) const {
    const RowOfScores<T> rule(all_, r / all_.heads, r % all_.heads);
    const BwdRow row = given.sees_few ? settled<kAdjusted>(given, rule, scores, dp) : given;
    const Vec factor = broadcast(product_factor(all_)), lse = broadcast(row.lse),
              delta = broadcast(row.delta), rest = broadcast(row.rest), weight = broadcast(row.weight);
    const std::int64_t begin = smaller(row.begin / kLanes * kLanes, columns),
                       end = row.begin < row.end ? round_up(row.end, kLanes) : begin;
    fill(scores, scores + begin, 0.0F), fill(dp, dp + begin, 0.0F);
    Vec p_sum = {}, ds_sum = {}, ds_sizes = {};
    for (std::int64_t j = begin; j < end; j += kLanes) {
      Vec score = load(scores + j) * factor, derivative;
      if constexpr (kAdjusted) score = rule.at(score, all_.first_key + j, derivative);
      Vec p = exp2_nonpositive(score - lse), slope = load(dp + j) - delta;
      if constexpr (kCorrected) p *= weight, slope -= rest;
      Vec ds = p * slope, adjusted = ds;
      if constexpr (kAdjusted) adjusted *= derivative;
      if (j < row.begin || j + kLanes > row.end) {
        const Vec key = lane_numbers() + static_cast<float>(j);
        const Bits seen =
            (Bits)(key >= static_cast<float>(row.begin)) & (Bits)(key < static_cast<float>(row.end));
        p = (Vec)((Bits)p & seen);
        ds = (Vec)((Bits)ds & seen);
        adjusted = (Vec)((Bits)adjusted & seen);
      }
      p_sum += p, ds_sum += ds, ds_sizes += magnitude(ds);
      store(scores + j, p);
      store(dp + j, adjusted);
    }
    fill(scores + end, scores + columns, 0.0F), fill(dp + end, dp + columns, 0.0F);
    given.p = sum_of_lanes(p_sum), given.ds = sum_of_lanes(ds_sum), given.ds_size = sum_of_lanes(ds_sizes);
  }

  // Two rows as pairs: neighbours along the rows for P and dS, along the keys for ds_rows.
  void store_pairs(std::int64_t row, int block_row, bool has_second, std::int64_t columns) {
    const float *p = memory_.scores + block_row * memory_.stride,
                *ds = memory_.dp + block_row * memory_.stride;
    float *p_pairs = memory_.p + row / 2 * memory_.stride, *ds_pairs = memory_.ds + row / 2 * memory_.stride;
    for (std::int64_t j = 0; j < columns; j += kLanes) {
      const float* second = p + memory_.stride + j;
      store(p_pairs + j, paired(load(p + j), has_second ? load(second) : Vec{}));
      second = ds + memory_.stride + j;
      store(ds_pairs + j, paired(load(ds + j), has_second ? load(second) : Vec{}));
    }
    for (int i = 0; i < (has_second ? 2 : 1); ++i) {
      auto* to = reinterpret_cast<std::uint16_t*>(memory_.ds_rows + (row + i) * memory_.stride);
      const float* from = ds + i * memory_.stride;
      for (std::int64_t j = 0; j < columns; j += 2 * kLanes) {
        narrow_both(to + j, load(from + j), j + kLanes < columns ? load(from + j + kLanes) : Vec{});
      }
    }
  }

  // sums += A^T B over the rows of the tile, with A = P or dS and B = dout or q.
  void add_transposed(const float* a, const float* b_rows, const float* b, bool finite, std::int64_t rows,
                      float* sums) const {
    std::int64_t first = 0, last = 0;  // the rows that see some of the keys at hand
    for (std::int64_t key = 0; key < count(); key += kRows) {
      const int keys = static_cast<int>(smaller(kRows, count() - key));
      while (first < rows && memory_.rows[first].end <= key) ++first;
      while (last < rows && memory_.rows[last].begin < key + keys) ++last;
      if (first >= last) continue;
      if (!finite) {
        for (int i = 0; i < keys; ++i)
          add_visible_rows(a, b_rows, first, last, key + i, sums + (key + i) * memory_.width);
        continue;
      }
      const std::int64_t from = first / kPerFloat, depth = numbers_of<T>(last) - from;
      for (std::int64_t column = 0; column < memory_.width; column += kPanel) {
        const std::int64_t width = panel_width(column, memory_.width);
        add_block_of<kPairs<T>, true>(keys, static_cast<int>(width / kLanes))(
            a + from * memory_.stride + key, memory_.stride, b + column * memory_.kTile + from * width, depth,
            sums + key * memory_.width + column, memory_.width, kOnes);
      }
    }
  }

  // Where a NaN or infinity is about, one pair of row and key at a time: 0 times it would be NaN.
  void add_visible_rows(const float* a, const float* b_rows, std::int64_t first, std::int64_t last,
                        std::int64_t key, float* sums) const {
    for (std::int64_t i = first; i < last; ++i) {
      if (key < memory_.rows[i].begin || key >= memory_.rows[i].end) continue;
      const std::int64_t at = (i / kPerFloat * memory_.stride + key) * kPerFloat + i % kPerFloat;
      add_multiple(packed_number(a, at), b_rows + i * memory_.width, sums);
    }
  }

  void add_visible_keys(std::int64_t i, float* sums) const {
    const RowStrides& k = all_.k_strides;
    for (std::int64_t key = memory_.rows[i].begin; key < memory_.rows[i].end; ++key) {
      const float ds = packed_number(memory_.ds_rows, i * memory_.stride * kPerFloat + key);
      const T* from = static_cast<const T*>(all_.k) + (all_.first_key + key) * k.row;
      for (std::int64_t d = 0; d < all_.dim; d += kLanes) {
        const Vec value = widen_some(from + d * k.dim, k.dim, smaller(kLanes, all_.dim - d));
        store(sums + d, multiply_add(broadcast(ds), value, load(sums + d)));
      }
    }
  }

  void add_multiple(float factor, const float* packed_row, float* sums) const {
    const auto* row = reinterpret_cast<const Packed*>(packed_row);
    for (std::int64_t d = 0; d < all_.dim; d += kLanes) {
      const Vec value = widen_some(row + d, 1, smaller(kLanes, all_.dim - d));
      store(sums + d, multiply_add(broadcast(factor), value, load(sums + d)));
    }
  }

  static FLASH_REF_INLINE float packed_number(const float* from, std::int64_t index) {
    if constexpr (kPairs<T>) {
      return __builtin_bit_cast(
          float, static_cast<std::uint32_t>(reinterpret_cast<const std::uint16_t*>(from)[index]) << 16);
    } else {
      return from[index];
    }
  }

  const AttentionBwdPiece& piece_;
  const AttentionPiece& all_;  // its keys are those of the block
  BwdMemory<T> memory_;
};

}  // namespace flash_ref::cpu::FLASH_REF_ISA
