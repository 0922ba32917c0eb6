// Attention, forward. A block of four warps owns a tile of queries of one head and meets the keys tile by
// tile; a warp owns 16 or 32 whole rows, so that maximum and sum of a row need four lanes only. While a tile
// of scores is computed, the tile of V and the next one of K are on their way. Scores and output stay in
// registers: the fragments that a product of scores leaves are those that the next product wants as its left
// side.
#pragma once

#include "kernels/cuda/attention_rows.h"

namespace flash_ref {

template <class Q, class K, class V, class Out, int kDim, Masking kMasking>
class AttentionForward {
 public:
  static constexpr AttentionTiling kTiling = attention_tiling(kDim, kMasking == Masking::kGeneral);
  static constexpr int kQueries = kTiling.queries, kKeys = kTiling.keys, kRowBlocks = kTiling.row_blocks;
  static constexpr int kThreads = kAttentionThreads;
  using Rows = AttentionRows<Q, V, kDim, kRowBlocks, kKeys>;

  FLASH_REF_DEVICE explicit AttentionForward(const AttentionLaunch& launch)
      : launch_(launch), problem_(launch.problem) {}

  FLASH_REF_DEVICE void run() {
    if (!find_work()) return;
    const KeyRange keys =
        keys_seen<kMasking>(problem_, position(first_query_), position(last_query_ - 1), rows_.seq_k);
    const int first = keys.first / kKeys, last = (keys.last + kKeys - 1) / kKeys;
    start_tile<kDim, kQueries, kThreads>(
        q_tile(), matrix(problem_.q, problem_.q_strides, head_, rows_.first_q, rows_.seq_q), first_query_,
        dim(), launch_.q_in_chunks);
    if (first < last) start_keys(first);
    device::commit_copies();
    for (int tile = first; tile < last; ++tile) {
      device::wait_copies<0>();
      device::barrier();
      start_values(tile);
      device::commit_copies();
      if (tile + 1 < last) start_keys(tile + 1);
      device::commit_copies();
      add_tile(tile);
    }
    device::wait_copies<0>();
    device::barrier();
    finish();
  }

 private:
  static constexpr int kRowBytes = Tile<kDim>::kRowBytes;

  FLASH_REF_DEVICE std::uint32_t q_tile() const { return device::shared_memory(); }
  FLASH_REF_DEVICE std::uint32_t k_tile(int tile) const {
    return q_tile() + static_cast<std::uint32_t>((kQueries + tile % 2 * kKeys) * kRowBytes);
  }
  FLASH_REF_DEVICE std::uint32_t v_tile() const {
    return q_tile() + static_cast<std::uint32_t>((kQueries + 2 * kKeys) * kRowBytes);
  }
  FLASH_REF_DEVICE int dim() const { return static_cast<int>(problem_.dim); }
  FLASH_REF_DEVICE int position(int query) const { return query + rows_.seq_k - rows_.seq_q; }
  FLASH_REF_DEVICE KeyRange seen_by(int query) const {
    const KeyRange seen = keys_seen<kMasking>(problem_, position(query), position(query), rows_.seq_k);
    return query < rows_.seq_q ? seen : KeyRange{0, 0};
  }

  // Blocks count tiles of queries first, then heads, then the batch; where later queries see more keys they
  // come first.
  FLASH_REF_DEVICE bool find_work() {
    const auto tiles = static_cast<unsigned>(launch_.tiles);
    const auto heads = static_cast<unsigned>(problem_.heads);
    int tile = static_cast<int>(device::block() % tiles);
    const unsigned rest = device::block() / tiles;
    head_ = static_cast<int>(rest % heads);
    batch_ = static_cast<int>(rest / heads);
    if (problem_.q_offsets == nullptr) {
      rows_ = sequence_rows(launch_, batch_);
      if (kMasking != Masking::kNone) tile = launch_.tiles - 1 - tile;
    } else {
      for (batch_ = 0; batch_ < problem_.batch; ++batch_) {
        rows_ = sequence_rows(launch_, batch_);
        const int tiles_here = (rows_.seq_q + kQueries - 1) / kQueries;
        if (tile < tiles_here) break;
        tile -= tiles_here;
      }
      if (batch_ == problem_.batch) return false;
    }
    first_query_ = tile * kQueries;
    last_query_ = smaller_of(first_query_ + kQueries, rows_.seq_q);
    return true;
  }

  FLASH_REF_DEVICE MatrixRows matrix(const void* base, const Strides4& strides, std::int64_t head,
                                     std::int64_t first, int count) const {
    const std::int64_t at = batch_ * strides[0] + first * strides[1] + head * strides[2];
    return {static_cast<const std::uint16_t*>(base) + at, strides[1], strides[3], count};
  }
  FLASH_REF_DEVICE MatrixRows keys_or_values(const void* base, const Strides4& strides) const {
    return matrix(base, strides, head_ / static_cast<int>(problem_.heads / problem_.kv_heads), rows_.first_k,
                  rows_.seq_k);
  }
  FLASH_REF_DEVICE void start_keys(int tile) {
    start_tile<kDim, kKeys, kThreads>(k_tile(tile), keys_or_values(problem_.k, problem_.k_strides),
                                      tile * kKeys, dim(), launch_.k_in_chunks);
  }
  FLASH_REF_DEVICE void start_values(int tile) {
    start_tile<kDim, kKeys, kThreads>(v_tile(), keys_or_values(problem_.v, problem_.v_strides), tile * kKeys,
                                      dim(), launch_.v_in_chunks);
  }

  FLASH_REF_DEVICE void add_tile(int tile) {
    typename Rows::Scores scores = {};
    rows_of_warp_.multiply_by_keys(scores, q_tile(), k_tile(tile));
    const KeyRange keys{tile * kKeys, (tile + 1) * kKeys};
    const bool masked =
        !all_seen<kMasking>(problem_, position(first_query_), position(last_query_ - 1), rows_.seq_k, keys);
    if (kMasking == Masking::kGeneral || masked) transform(scores, keys.first);
    typename Rows::Weights weights;
    rows_of_warp_.soften(scores, weights, factor());
    device::wait_copies<1>();
    device::barrier();
    if (kMasking != Masking::kNone && masked && device::barrier_any(Rows::have_holes(v_tile()))) {
      const auto seen = [&](int m, int half) {
        const KeyRange all = seen_by(first_query_ + Rows::row_of(m, half));
        return KeyRange{all.first - keys.first, all.last - keys.first};
      };
      return rows_of_warp_.multiply_one_by_one(weights, v_tile(), k_tile(tile), seen);
    }
    rows_of_warp_.multiply_by_values(weights, v_tile());
  }

  // What the options make of the products; -infinity where a query does not see a key.
  FLASH_REF_DEVICE void transform(typename Rows::Scores& scores, int first_key) {
    const ScoreOptions options(problem_, batch_, head_);
#pragma unroll
    for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int query = first_query_ + Rows::row_of(m, half);
        const KeyRange seen = seen_by(query);
#pragma unroll
        for (int i = 0; i < kKeys / 4; ++i) {
          float& score = scores[m][i / 2][half * 2 + i % 2];
          const int key = first_key + Rows::key_of(i);
          if (key < seen.first || key >= seen.last) {
            score = Rows::kNothing;
          } else if (kMasking == Masking::kGeneral) {
            score = options.template apply<Q>(score, query, position(query), key);
          }
        }
      }
    }
  }

  // exp2 of scores times this, once the maximum is off.
  FLASH_REF_DEVICE float factor() const {
    return kMasking == Masking::kGeneral ? 1.0F : problem_.scale * kLog2E;
  }

  // Output and lse. The output takes the way through the warp's rows of the tile of Q, to be stored in whole
  // rows.
  FLASH_REF_DEVICE void finish() {
#pragma unroll
    for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float sum = rows_of_warp_.total(m, half);
        store_lse(first_query_ + Rows::row_of(m, half), rows_of_warp_.maximum_[m][half], sum);
        rows_of_warp_.template round_to_tile<Out>(q_tile(), m, half, sum == 0 ? 0.0F : 1 / sum);
      }
    }
    device::warp_barrier();
    store_rows();
  }

  FLASH_REF_DEVICE void store_lse(int query, float maximum, float sum) const {
    if (problem_.lse == nullptr || Rows::lane() % 4 != 0 || query >= rows_.seq_q) return;
    const float top = maximum == Rows::kNothing ? 0.0F : maximum;
    const float unit = kMasking == Masking::kGeneral ? kLn2 : problem_.scale;
    device::store(problem_.lse + batch_ * problem_.lse_strides[0] + head_ * problem_.lse_strides[1] +
                      (rows_.first_q + query) * problem_.lse_strides[2],
                  sum == 0 ? Rows::kNothing : top * unit + device::natural_log(sum));
  }

  FLASH_REF_DEVICE void store_rows() const {
    const MatrixRows out = matrix(problem_.out, problem_.out_strides, head_, rows_.first_q, rows_.seq_q);
#pragma unroll 4
    for (int index = Rows::lane(); index < 16 * kRowBlocks * Rows::kDimBlocks; index += 32) {
      const int row = Rows::first_row() + index / Rows::kDimBlocks, chunk = index % Rows::kDimBlocks;
      const device::Quad q = device::load_shared16(q_tile() + Tile<kDim>::offset(row, chunk));
      const auto* to = out.row(first_query_ + row);
      if (to == nullptr) continue;
      store_chunk(const_cast<std::uint16_t*>(to), out.dim_stride, chunk * 8, dim(), launch_.out_in_chunks, q);
    }
  }

  const AttentionLaunch& launch_;
  const AttentionProblem& problem_;
  SequenceRows rows_{};
  int batch_ = 0, head_ = 0, first_query_ = 0, last_query_ = 0;
  Rows rows_of_warp_;
};

template <class Q, class K, class V, class Out, int kDim, Masking kMasking>
FLASH_REF_KERNEL(kAttentionThreads, 2)
attention_fwd_kernel(FLASH_REF_PARAMETER AttentionLaunch launch) {
  AttentionForward<Q, K, V, Out, kDim, kMasking>(launch).run();
}

template <class T, int kDim, Masking kMasking>
int launch_attention_fwd(const AttentionLaunch& launch, unsigned blocks, void* stream) {
  return device::launch(attention_fwd_kernel<T, T, T, T, kDim, kMasking>, blocks, kAttentionThreads,
                        attention_shared_bytes(kDim, kMasking == Masking::kGeneral), stream, launch);
}

}  // namespace flash_ref
