// Attention, backward. One kernel is both halves of it: 64 rows stay with a block, the others go by in tiles.
// Where queries stay, S = Q K^T and dP = dO V^T give dS, and dQ += dS K. Where keys stay, the same products
// are transposed, S^T = K Q^T and dP^T = V dO^T, and give dK += dS^T Q and dV += P^T dO, for all query heads
// that share the keys. So S and dP are computed twice, in return for which no two blocks add to one number:
// nothing is atomic, and the order of all sums is fixed.
//
// Before both, kFewKeys: the lse and delta that were given carry the roundings of lse and out. Where a row
// sees a few keys and dP - delta cancels, nothing else would be left of dS (a row with one key has dS = 0
// exactly), so such a row takes both from its own S and dP, made by the same instructions as later. That
// these agree with the lse given shows that no other keys belong to it.
#pragma once

#include "kernels/cuda/attention_bwd_launch.h"
#include "kernels/cuda/attention_rows.h"

namespace flash_ref {

template <class Q, class K, class V, class Out, int kDim, bool kOptions, BackwardOf kOf>
class AttentionBackwardPass {
 public:
  static constexpr bool kSettles = kOf == BackwardOf::kFewKeys;
  static constexpr bool kQueriesStay = kOf == BackwardOf::kQueries || kSettles;
  static constexpr bool kNeedsDs = kOf != BackwardOf::kValues;
  static constexpr bool kNeedsP = kOf == BackwardOf::kKeysAndValues || kOf == BackwardOf::kValues;
  static constexpr int kPassing = backward_passing(kDim);
  using Rows = AttentionRows<Q, V, kDim, 1, kPassing>;

  FLASH_REF_DEVICE explicit AttentionBackwardPass(const AttentionBackwardLaunch& launch)
      : launch_(launch), problem_(launch.problem), forward_(launch.problem.forward) {}

  FLASH_REF_DEVICE void run() {
    if (!find_work() || (kSettles && !device::barrier_any(few_keys(0) || few_keys(1)))) return;
    start_staying();
    const int count = last_passing_ - first_passing_;
    const int steps = kQueriesStay ? count : count * group();
    if (steps > 0) {
      start_passing(0);
      read_statistics(0);
      write_statistics(0);
    }
    device::commit_copies();
    for (int step = 0; step < steps; ++step) {
      device::wait_copies<0>();
      device::barrier();
      if (step + 1 < steps) {
        start_passing(step + 1);
        read_statistics(step + 1);
      }
      device::commit_copies();
      add_step(step);
      if (step + 1 < steps) write_statistics(step + 1);
    }
    device::wait_copies<0>();
    device::barrier();
    finish();
  }

 private:
  static constexpr int kRowBytes = Tile<kDim>::kRowBytes;

  // Tile 0 of each pair is Q or K, tile 1 is dO or V.
  FLASH_REF_DEVICE static std::uint32_t staying(int which) {
    return device::shared_memory() + static_cast<std::uint32_t>(which * kBackwardRows * kRowBytes);
  }
  FLASH_REF_DEVICE static std::uint32_t passing(int step, int which) {
    return staying(2) + static_cast<std::uint32_t>((step % 2 * 2 + which) * kPassing * kRowBytes);
  }
  FLASH_REF_DEVICE static std::uint32_t statistic(int step, int which) {
    return passing(0, 4) + static_cast<std::uint32_t>((step % 2 * 2 + which) * kPassing * 4);
  }
  FLASH_REF_DEVICE int group() const { return static_cast<int>(forward_.heads / forward_.kv_heads); }
  FLASH_REF_DEVICE int dim() const { return static_cast<int>(forward_.dim); }
  FLASH_REF_DEVICE int shift() const { return rows_.seq_k - rows_.seq_q; }
  FLASH_REF_DEVICE int tile_of(int step) const {
    return first_passing_ + step % larger_of(last_passing_ - first_passing_, 1);
  }
  FLASH_REF_DEVICE std::int64_t head_of(int step) const {
    if (kQueriesStay) return head_;
    return head_ * group() + step / larger_of(last_passing_ - first_passing_, 1);
  }

  FLASH_REF_DEVICE KeyRange keys_of(int query) const {
    const KeyRange seen =
        keys_seen<Masking::kGeneral>(forward_, query + shift(), query + shift(), rows_.seq_k);
    return query < rows_.seq_q ? seen : KeyRange{0, 0};
  }
  // The queries that see keys from `first` to `last`, at least one of them.
  FLASH_REF_DEVICE KeyRange queries_of(int first, int last) const {
    KeyRange queries{0, rows_.seq_q};
    if (forward_.causal) queries.first = larger_of(first - shift(), 0);
    if (forward_.window != 0) {
      const int window = static_cast<int>(forward_.window);
      queries.first = larger_of(queries.first, first - window + 1 - shift());
      queries.last = smaller_of(queries.last, last + window - shift());
    }
    queries.last = larger_of(queries.last, queries.first);
    return first < rows_.seq_k ? queries : KeyRange{0, 0};
  }
  FLASH_REF_DEVICE KeyRange seen_by(int row) const {
    return kQueriesStay ? keys_of(row) : queries_of(row, row);
  }
  FLASH_REF_DEVICE bool few_keys(int half) const {
    const KeyRange seen = keys_of(first_row_ + Rows::row_of(0, half));
    return seen.first < seen.last && seen.last - seen.first <= kFewKeys;
  }

  FLASH_REF_DEVICE bool find_work() {
    const auto tiles = static_cast<unsigned>(kQueriesStay ? launch_.query_tiles : launch_.key_tiles);
    const auto heads = static_cast<unsigned>(kQueriesStay ? forward_.heads : forward_.kv_heads);
    int tile = static_cast<int>(device::block() % tiles);
    const unsigned rest = device::block() / tiles;
    head_ = rest % heads;
    batch_ = rest / heads;
    AttentionLaunch lengths{};
    lengths.problem = forward_;
    lengths.total_q = launch_.total_q;
    lengths.total_k = launch_.total_k;
    if (forward_.q_offsets == nullptr) {
      rows_ = sequence_rows(lengths, batch_);
      if (kQueriesStay) tile = launch_.query_tiles - 1 - tile;  // what takes longest first
    } else {
      for (batch_ = 0; batch_ < forward_.batch; ++batch_) {
        rows_ = sequence_rows(lengths, batch_);
        const int here = ((kQueriesStay ? rows_.seq_q : rows_.seq_k) + kBackwardRows - 1) / kBackwardRows;
        if (tile < here) break;
        tile -= here;
      }
      if (batch_ == forward_.batch) return false;
    }
    first_row_ = tile * kBackwardRows;
    const int count = kQueriesStay ? rows_.seq_q : rows_.seq_k;
    const int last_row = smaller_of(first_row_ + kBackwardRows, count) - 1;
    const KeyRange seen = kQueriesStay ? keys_seen<Masking::kGeneral>(forward_, first_row_ + shift(),
                                                                      last_row + shift(), rows_.seq_k)
                                       : queries_of(first_row_, last_row);
    first_passing_ = seen.first / kPassing;
    last_passing_ = seen.first < seen.last ? (seen.last + kPassing - 1) / kPassing : first_passing_;
    return true;
  }

  FLASH_REF_DEVICE MatrixRows matrix(const void* base, const Strides4& strides, std::int64_t head,
                                     bool of_queries) const {
    const std::int64_t first = of_queries ? rows_.first_q : rows_.first_k;
    const std::int64_t at = batch_ * strides[0] + first * strides[1] + head * strides[2];
    return {static_cast<const std::uint16_t*>(base) + at, strides[1], strides[3],
            of_queries ? rows_.seq_q : rows_.seq_k};
  }

  template <int kRows>
  FLASH_REF_DEVICE void start_queries(std::uint32_t q, std::uint32_t dout, std::int64_t head,
                                      int first) const {
    start_tile<kDim, kRows, kAttentionThreads>(q, matrix(forward_.q, forward_.q_strides, head, true), first,
                                               dim(), launch_.q_in_chunks);
    start_tile<kDim, kRows, kAttentionThreads>(dout, matrix(problem_.dout, problem_.dout_strides, head, true),
                                               first, dim(), launch_.dout_in_chunks);
  }
  template <int kRows>
  FLASH_REF_DEVICE void start_keys(std::uint32_t k, std::uint32_t v, std::int64_t head, int first) const {
    start_tile<kDim, kRows, kAttentionThreads>(k, matrix(forward_.k, forward_.k_strides, head, false), first,
                                               dim(), launch_.k_in_chunks);
    start_tile<kDim, kRows, kAttentionThreads>(v, matrix(forward_.v, forward_.v_strides, head, false), first,
                                               dim(), launch_.v_in_chunks);
  }
  FLASH_REF_DEVICE void start_staying() {
    if constexpr (kQueriesStay) {
      start_queries<kBackwardRows>(staying(0), staying(1), head_, first_row_);
#pragma unroll
      for (int half = 0; half < 2; ++half)
        own_[half] = statistics_of(head_, first_row_ + Rows::row_of(0, half));
    } else {
      start_keys<kBackwardRows>(staying(0), staying(1), head_, first_row_);
    }
  }
  FLASH_REF_DEVICE void start_passing(int step) const {
    const int first = tile_of(step) * kPassing;
    if constexpr (kQueriesStay) {
      start_keys<kPassing>(passing(step, 0), passing(step, 1), head_ / group(), first);
    } else {
      start_queries<kPassing>(passing(step, 0), passing(step, 1), head_of(step), first);
    }
  }

  // lse of a query in units of exp2, and its delta.
  struct Statistics {
    float lse, delta;
  };
  FLASH_REF_DEVICE std::int64_t statistics_at(std::int64_t head, int query) const {
    const std::int64_t before = forward_.q_offsets == nullptr ? batch_ * rows_.seq_q : rows_.first_q;
    return head * launch_.rows + before + query;
  }
  FLASH_REF_DEVICE Statistics statistics_of(std::int64_t head, int query) const {
    if (query >= rows_.seq_q) return {0, 0};
    const std::int64_t at = statistics_at(head, query);
    return {device::load(launch_.lses + at), device::load(launch_.deltas + at)};
  }
  // Those of queries that go by, each thread one: read before a step is computed, written after it.
  FLASH_REF_DEVICE void read_statistics(int step) {
    if (kQueriesStay || device::thread() >= kPassing) return;
    next_ = statistics_of(head_of(step), tile_of(step) * kPassing + device::thread());
  }
  FLASH_REF_DEVICE void write_statistics(int step) const {
    if (kQueriesStay || device::thread() >= kPassing) return;
    const auto at = static_cast<std::uint32_t>(device::thread() * 4);
    device::store_shared4(statistic(step, 0) + at, device::as_bits(next_.lse));
    device::store_shared4(statistic(step, 1) + at, device::as_bits(next_.delta));
  }
  FLASH_REF_DEVICE Statistics statistics_in(int step, int half, int column) const {
    if (kQueriesStay) return own_[half];
    const auto at = static_cast<std::uint32_t>(column * 4);
    return {device::as_float(device::load_shared4(statistic(step, 0) + at)),
            device::as_float(device::load_shared4(statistic(step, 1) + at))};
  }

  FLASH_REF_DEVICE void add_step(int step) {
    typename Rows::Scores scores = {}, slopes = {};
    sums_.multiply_by_keys(scores, staying(0), passing(step, 0));
    if constexpr (kNeedsDs) sums_.multiply_by_keys(slopes, staying(1), passing(step, 1));
    if constexpr (kSettles) return add_to_few(scores, slopes, tile_of(step) * kPassing);
    differentiate(scores, slopes, step);
    const int first = tile_of(step) * kPassing;
    const bool holes =
        any_hidden(first) && device::barrier_any((kNeedsDs && Rows::have_holes(passing(step, 0))) ||
                                                 (kNeedsP && Rows::have_holes(passing(step, 1))));
    typename Rows::Weights weights;
    if constexpr (kNeedsDs) {
      Rows::round_weights(slopes, weights);
      add_product(sums_, weights, step, 0, first, holes);
    }
    if constexpr (kNeedsP) {
      Rows::round_weights(scores, weights);
      add_product(more_sums_, weights, step, 1, first, holes);
    }
  }

  // Whether a pair of a row of this block and one that goes by is hidden.
  FLASH_REF_DEVICE bool any_hidden(int first) const {
    const KeyRange low = seen_by(first_row_), high = seen_by(first_row_ + kBackwardRows - 1);
    return first < larger_of(low.first, high.first) || first + kPassing > smaller_of(low.last, high.last);
  }

  FLASH_REF_DEVICE void add_product(Rows& sums, const typename Rows::Weights& weights, int step, int which,
                                    int first, bool holes) {
    if (!holes) return sums.multiply_by_values(weights, passing(step, which));
    const auto seen = [&](int, int half) {
      const KeyRange all = seen_by(first_row_ + Rows::row_of(0, half));
      return KeyRange{all.first - first, all.last - first};
    };
    sums.multiply_one_by_one(weights, passing(step, which), statistic(0, 4), seen);
  }

  // From products to P in `scores` and dS in `slopes`.
  FLASH_REF_DEVICE void differentiate(typename Rows::Scores& scores, typename Rows::Scores& slopes,
                                      int step) {
    const ScoreOptions options(forward_, batch_, head_of(step));
    const int first = tile_of(step) * kPassing;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = first_row_ + Rows::row_of(0, half);
      const KeyRange seen = seen_by(row);
#pragma unroll
      for (int i = 0; i < kPassing / 4; ++i) {
        float& score = scores[0][i / 2][half * 2 + i % 2];
        float& slope = slopes[0][i / 2][half * 2 + i % 2];
        const int column = first + Rows::key_of(i);
        if (column < seen.first || column >= seen.last) {
          score = slope = 0;
          continue;
        }
        const int query = kQueriesStay ? row : column, key = kQueriesStay ? column : row;
        const Statistics of_query = statistics_in(step, half, Rows::key_of(i));
        const float cap = kOptions ? options.slope_of_cap(score) : 1.0F;
        score = device::exp2_fast(exponent_of(options, score, query, key) - of_query.lse);
        slope = score * (slope - of_query.delta) * cap;
      }
    }
  }

  FLASH_REF_DEVICE float exponent_of(const ScoreOptions& options, float product, int query, int key) const {
    if (kSettles ? launch_.adjusted : kOptions)
      return options.template apply<Q>(product, query, query + shift(), key);
    return product * (forward_.scale * kLog2E);
  }

  // What the rows of this lane that see a few keys have of them so far: as in the online softmax, with the
  // sum of probabilities times dP beside that of probabilities.
  struct Few {
    float top = kNoKey, sum = 0, slope = 0;
  };
  FLASH_REF_DEVICE void add_to_few(typename Rows::Scores& scores, const typename Rows::Scores& slopes,
                                   int first) {
    const ScoreOptions options(forward_, batch_, head_);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = first_row_ + Rows::row_of(0, half);
      const KeyRange seen = few_keys(half) ? keys_of(row) : KeyRange{0, 0};
      Few& few = few_[half];
      float top = few.top;
#pragma unroll
      for (int i = 0; i < kPassing / 4; ++i) {
        float& score = scores[0][i / 2][half * 2 + i % 2];
        const int key = first + Rows::key_of(i);
        const bool hidden = key < seen.first || key >= seen.last;
        score = hidden ? kNoKey : exponent_of(options, score, row, key);
        top = device::larger(top, score);
      }
      top = device::larger(top, device::shuffle_xor(top, 1));
      top = device::larger(top, device::shuffle_xor(top, 2));
      const float base = top == kNoKey ? 0.0F : top, correction = device::exp2_fast(few.top - base);
      few = {top, few.sum * correction, few.slope * correction};
#pragma unroll
      for (int i = 0; i < kPassing / 4; ++i) {
        const int key = first + Rows::key_of(i);
        if (key < seen.first || key >= seen.last) continue;
        const float p = device::exp2_fast(device::difference(scores[0][i / 2][half * 2 + i % 2], base));
        few.sum += p;
        few.slope = device::fused(p, slopes[0][i / 2][half * 2 + i % 2], few.slope);
      }
    }
  }

  // Instead of what was given, where it is the same but for roundings.
  FLASH_REF_DEVICE void store_few() const {
    constexpr float kSame = 1.0F / 1024;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float sum = Rows::sum_of_row(few_[half].sum), slope = Rows::sum_of_row(few_[half].slope);
      const float lse = few_[half].top + device::natural_log(sum) * kLog2E, apart = lse - own_[half].lse;
      if (Rows::lane() % 4 != 0 || !few_keys(half) || !(apart <= kSame && apart >= -kSame)) continue;
      const std::int64_t at = statistics_at(head_, first_row_ + Rows::row_of(0, half));
      device::store(launch_.lses + at, lse);
      device::store(launch_.deltas + at, slope / sum);
    }
  }

  FLASH_REF_DEVICE void finish() {
    if constexpr (kSettles) return store_few();
    if constexpr (kOf == BackwardOf::kQueries)
      store(sums_, problem_.dq, problem_.dq_strides, 0, forward_.scale, launch_.dq_in_chunks);
    if constexpr (kNeedsDs && !kQueriesStay)
      store(sums_, problem_.dk, problem_.dk_strides, 0, forward_.scale, launch_.dk_in_chunks);
    if constexpr (kNeedsP) store(more_sums_, problem_.dv, problem_.dv_strides, 1, 1.0F, launch_.dv_in_chunks);
  }

  // Through the warp's rows of a tile that stayed, to be stored in whole rows.
  FLASH_REF_DEVICE void store(const Rows& sums, void* base, const Strides4& strides, int which, float factor,
                              bool in_chunks) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) sums.template round_to_tile<Out>(staying(which), 0, half, factor);
    device::warp_barrier();
    const MatrixRows rows = matrix(base, strides, head_, kQueriesStay);
#pragma unroll 4
    for (int index = Rows::lane(); index < 16 * Rows::kDimBlocks; index += 32) {
      const int row = Rows::first_row() + index / Rows::kDimBlocks, chunk = index % Rows::kDimBlocks;
      const device::Quad q = device::load_shared16(staying(which) + Tile<kDim>::offset(row, chunk));
      const auto* to = rows.row(first_row_ + row);
      if (to != nullptr)
        store_chunk(const_cast<std::uint16_t*>(to), rows.dim_stride, chunk * 8, dim(), in_chunks, q);
    }
  }

  const AttentionBackwardLaunch& launch_;
  const AttentionBackward& problem_;
  const AttentionProblem& forward_;
  SequenceRows rows_{};
  std::int64_t batch_ = 0, head_ = 0;  // head_: of the rows that stay
  int first_row_ = 0, first_passing_ = 0, last_passing_ = 0;
  Statistics own_[2] = {}, next_ = {};
  Few few_[2] = {};
  Rows sums_, more_sums_;
};

// q, k, v and out, as the forward kernel has them; gradients have the dtype of out.
template <class Q, class K, class V, class Out, int kDim, bool kOptions, BackwardOf kOf>
FLASH_REF_KERNEL(kAttentionThreads, 1)
attention_bwd_kernel(FLASH_REF_PARAMETER AttentionBackwardLaunch launch) {
  AttentionBackwardPass<Q, K, V, Out, kDim, kOptions, kOf>(launch).run();
}

template <class T, int kDim, bool kOptions, BackwardOf kOf>
int launch_attention_bwd(const AttentionBackwardLaunch& launch, unsigned blocks, void* stream) {
  return device::launch(attention_bwd_kernel<T, T, T, T, kDim, kOptions, kOf>, blocks, kAttentionThreads,
                        attention_bwd_shared_bytes(kDim), stream, launch);
}

}  // namespace flash_ref
