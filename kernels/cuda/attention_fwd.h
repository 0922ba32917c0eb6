// Attention, forward. A block of four warps owns a tile of queries of one head and meets the keys tile by
// tile; a warp owns 16 or 32 whole rows, so that maximum and sum of a row need four lanes only. While a tile
// of scores is computed, the tile of V and the next one of K are on their way. Scores and output stay in
// registers: the fragments that a product of scores leaves are those that the next product wants as its left
// side.
#pragma once

#include "kernels/cuda/scores.h"
#include "kernels/cuda/tile.h"

namespace flash_ref {

template <class Q, class K, class V, class Out, int kDim, Masking kMasking>
class AttentionForward {
 public:
  static constexpr AttentionTiling kTiling = attention_tiling(kDim);
  static constexpr int kQueries = kTiling.queries, kKeys = kTiling.keys, kRowBlocks = kTiling.row_blocks;
  static constexpr int kThreads = kAttentionThreads;

  FLASH_REF_DEVICE explicit AttentionForward(const AttentionLaunch& launch)
      : launch_(launch), problem_(launch.problem) {
#pragma unroll
    for (int i = 0; i < kRowBlocks * 2; ++i) maximum_[i / 2][i % 2] = kNothing;
  }

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
  static constexpr int kKeyBlocks = kKeys / 8, kDimBlocks = kDim / 8, kRowBytes = Tile<kDim>::kRowBytes;
  static constexpr float kNothing = -__builtin_inff();

  FLASH_REF_DEVICE std::uint32_t q_tile() const { return device::shared_memory(); }
  FLASH_REF_DEVICE std::uint32_t k_tile(int tile) const {
    return q_tile() + static_cast<std::uint32_t>((kQueries + tile % 2 * kKeys) * kRowBytes);
  }
  FLASH_REF_DEVICE std::uint32_t v_tile() const {
    return q_tile() + static_cast<std::uint32_t>((kQueries + 2 * kKeys) * kRowBytes);
  }
  FLASH_REF_DEVICE int dim() const { return static_cast<int>(problem_.dim); }
  FLASH_REF_DEVICE int position(int query) const { return query + rows_.seq_k - rows_.seq_q; }
  FLASH_REF_DEVICE int lane() const { return device::thread() % 32; }
  FLASH_REF_DEVICE int first_row() const { return device::thread() / 32 * 16 * kRowBlocks; }
  // The query of half `half` of row block `m`, of this lane.
  FLASH_REF_DEVICE int query_of(int m, int half) const {
    return first_query_ + first_row() + m * 16 + half * 8 + lane() / 4;
  }

  // Blocks count tiles of queries first, then heads, then the batch; where later queries see more keys they
  // come first.
  FLASH_REF_DEVICE bool find_work() {
    const auto tiles = static_cast<unsigned>(launch_.tiles);
    const auto heads = static_cast<unsigned>(problem_.heads);
    int tile = static_cast<int>(device::block() % tiles);
    const unsigned rest = device::block() / tiles;
    head_ = rest % heads;
    batch_ = rest / heads;
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
    return matrix(base, strides, head_ / (problem_.heads / problem_.kv_heads), rows_.first_k, rows_.seq_k);
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
    float scores[kRowBlocks][kKeyBlocks][4] = {};
    multiply_by_keys(scores, k_tile(tile));
    const KeyRange keys{tile * kKeys, (tile + 1) * kKeys};
    const bool masked =
        !all_seen<kMasking>(problem_, position(first_query_), position(last_query_ - 1), rows_.seq_k, keys);
    transform(scores, keys.first, masked);
    std::uint32_t weights[kRowBlocks][kKeyBlocks / 2][4];
    soften(scores, weights);
    device::wait_copies<1>();
    if (kMasking == Masking::kNone || !masked) {
      device::barrier();
    } else {
      device::barrier();
      if (device::barrier_any(values_have_holes())) return multiply_one_by_one(weights, tile);
    }
    multiply_by_values(weights);
  }

  FLASH_REF_DEVICE void multiply_by_keys(float (&scores)[kRowBlocks][kKeyBlocks][4], std::uint32_t keys) {
#pragma unroll
    for (int chunk = 0; chunk < kDim / 8; chunk += 2) {
      std::uint32_t q[kRowBlocks][4];
#pragma unroll
      for (int m = 0; m < kRowBlocks; ++m) Tile<kDim>::load_left(q[m], q_tile(), first_row() + m * 16, chunk);
#pragma unroll
      for (int n = 0; n < kKeyBlocks; n += 2) {
        std::uint32_t k[4];
        Tile<kDim>::load_right_transposed(k, keys, n * 8, chunk);
#pragma unroll
        for (int m = 0; m < kRowBlocks; ++m) {
          device::multiply_add<Q>(scores[m][n], q[m], k[0], k[1]);
          device::multiply_add<Q>(scores[m][n + 1], q[m], k[2], k[3]);
        }
      }
    }
  }

  // What the options make of the products; -infinity where a query does not see a key.
  FLASH_REF_DEVICE void transform(float (&scores)[kRowBlocks][kKeyBlocks][4], int first_key, bool masked) {
    if (kMasking != Masking::kGeneral && !masked) return;
    const ScoreOptions options(problem_, batch_, head_);
#pragma unroll
    for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int query = query_of(m, half), place = position(query);
        KeyRange seen = keys_seen<kMasking>(problem_, place, place, rows_.seq_k);
        if (query >= rows_.seq_q) seen.last = seen.first;
#pragma unroll
        for (int i = 0; i < kKeyBlocks * 2; ++i) {
          float& score = scores[m][i / 2][half * 2 + i % 2];
          const int key = first_key + i / 2 * 8 + lane() % 4 * 2 + i % 2;
          if (key < seen.first || key >= seen.last) {
            score = kNothing;
          } else if (kMasking == Masking::kGeneral) {
            score = options.template apply<Q>(score, query, place, key);
          }
        }
      }
    }
  }

  // exp2 of scores times this, once the maximum is off.
  FLASH_REF_DEVICE float factor() const {
    return kMasking == Masking::kGeneral ? 1.0F : problem_.scale * kLog2E;
  }

  // The online softmax: scores to probabilities against the maximum so far, in the dtype of V.
  FLASH_REF_DEVICE void soften(float (&scores)[kRowBlocks][kKeyBlocks][4],
                               std::uint32_t (&weights)[kRowBlocks][kKeyBlocks / 2][4]) {
    const float scale = factor();
#pragma unroll
    for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float top = maximum_[m][half];
#pragma unroll
        for (int i = 0; i < kKeyBlocks * 2; ++i)
          top = device::larger(top, scores[m][i / 2][half * 2 + i % 2]);
        top = device::larger(top, device::shuffle_xor(top, 1));
        top = device::larger(top, device::shuffle_xor(top, 2));
        const float base = top == kNothing ? 0.0F : top * scale;
        const float correction = device::exp2_fast(maximum_[m][half] * scale - base);
        maximum_[m][half] = top;
        float sum = 0;
#pragma unroll
        for (int i = 0; i < kKeyBlocks * 2; ++i) {
          float& score = scores[m][i / 2][half * 2 + i % 2];
          score = device::exp2_fast(score * scale - base);
          sum += score;
        }
        sum_[m][half] = sum_[m][half] * correction + sum;
#pragma unroll
        for (int n = 0; n < kDimBlocks; ++n) {
          out_[m][n][half * 2] *= correction;
          out_[m][n][half * 2 + 1] *= correction;
        }
      }
#pragma unroll
      for (int n = 0; n < kKeyBlocks; ++n) {
        weights[m][n / 2][n % 2 * 2] = device::pack<V>(scores[m][n][0], scores[m][n][1]);
        weights[m][n / 2][n % 2 * 2 + 1] = device::pack<V>(scores[m][n][2], scores[m][n][3]);
      }
    }
  }

  FLASH_REF_DEVICE void multiply_by_values(const std::uint32_t (&weights)[kRowBlocks][kKeyBlocks / 2][4]) {
#pragma unroll
    for (int k = 0; k < kKeyBlocks / 2; ++k) {
#pragma unroll
      for (int n = 0; n < kDimBlocks; n += 2) {
        std::uint32_t v[4];
        Tile<kDim>::load_right(v, v_tile(), k * 16, n);
#pragma unroll
        for (int m = 0; m < kRowBlocks; ++m) {
          device::multiply_add<V>(out_[m][n], weights[m][k], v[0], v[1]);
          device::multiply_add<V>(out_[m][n + 1], weights[m][k], v[2], v[3]);
        }
      }
    }
  }

  // Whether this thread's part of the tile of V has a NaN or infinity, which times 0 would be NaN.
  FLASH_REF_DEVICE bool values_have_holes() const {
    bool any = false;
#pragma unroll 4
    for (int at = device::thread() * 16; at < kKeys * kRowBytes; at += kThreads * 16) {
      const device::Quad q = device::load_shared16(v_tile() + static_cast<std::uint32_t>(at));
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const float value = device::widen<V>(q.x[i / 2] >> i % 2 * 16 & 0xffffU);
        any = any || !(value - value == 0);
      }
    }
    return any;
  }

  // The product of weights and values over pairs of a query and a key that it sees, for tiles of V that have
  // such numbers. The weights of 16 rows at a time lie where the tile of K was.
  FLASH_REF_DEVICE void multiply_one_by_one(const std::uint32_t (&weights)[kRowBlocks][kKeyBlocks / 2][4],
                                            int tile) {
    const std::uint32_t mine =
        k_tile(tile) + static_cast<std::uint32_t>((device::thread() / 32 * 16 + lane() / 4) * kKeys * 2);
#pragma unroll
    for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
      for (int i = 0; i < kKeyBlocks * 2; ++i) {
        const int row = i % 2 * 8, pair = i / 2 * 4 + lane() % 4;
        device::store_shared4(mine + static_cast<std::uint32_t>(row * kKeys * 2 + pair * 4),
                              weights[m][i / 4][i % 4]);
      }
      device::warp_barrier();
#pragma unroll 1
      for (int key = 0; key < kKeys; ++key) add_key(m, tile * kKeys + key, key, mine);
      device::warp_barrier();
    }
  }

  FLASH_REF_DEVICE void add_key(int m, int key, int row, std::uint32_t weights) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::uint32_t pair =
          device::load_shared4(weights + static_cast<std::uint32_t>(half * 8 * kKeys * 2 + row / 2 * 4));
      const float weight = device::widen<V>(row % 2 == 0 ? pair & 0xffffU : pair >> 16);
      const int place = position(query_of(m, half));
      const KeyRange seen = keys_seen<kMasking>(problem_, place, place, rows_.seq_k);
      if (key < seen.first || key >= seen.last) continue;
#pragma unroll
      for (int n = 0; n < kDimBlocks; ++n) {
        const std::uint32_t v = device::load_shared4(v_tile() + Tile<kDim>::offset(row, n) +
                                                     static_cast<std::uint32_t>(lane() % 4 * 4));
        out_[m][n][half * 2] += weight * device::widen<V>(v & 0xffffU);
        out_[m][n][half * 2 + 1] += weight * device::widen<V>(v >> 16);
      }
    }
  }

  // Output and lse. The output takes the way through the warp's rows of the tile of Q, to be stored in whole
  // rows.
  FLASH_REF_DEVICE void finish() {
#pragma unroll
    for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float sum = sum_[m][half];
        sum += device::shuffle_xor(sum, 1);
        sum += device::shuffle_xor(sum, 2);
        store_lse(m, half, sum);
        const float share = sum == 0 ? 0.0F : 1 / sum;
        const int row = first_row() + m * 16 + half * 8 + lane() / 4;
#pragma unroll
        for (int n = 0; n < kDimBlocks; ++n) {
          device::store_shared4(
              q_tile() + Tile<kDim>::offset(row, n) + static_cast<std::uint32_t>(lane() % 4 * 4),
              device::pack<Out>(out_[m][n][half * 2] * share, out_[m][n][half * 2 + 1] * share));
        }
      }
    }
    device::warp_barrier();
    store_rows();
  }

  FLASH_REF_DEVICE void store_lse(int m, int half, float sum) const {
    const int query = query_of(m, half);
    if (problem_.lse == nullptr || lane() % 4 != 0 || query >= rows_.seq_q) return;
    const float top = maximum_[m][half] == kNothing ? 0.0F : maximum_[m][half];
    const float unit = kMasking == Masking::kGeneral ? kLn2 : problem_.scale;
    device::store(problem_.lse + batch_ * problem_.lse_strides[0] + head_ * problem_.lse_strides[1] +
                      (rows_.first_q + query) * problem_.lse_strides[2],
                  sum == 0 ? kNothing : top * unit + device::natural_log(sum));
  }

  FLASH_REF_DEVICE void store_rows() const {
    const MatrixRows out = matrix(problem_.out, problem_.out_strides, head_, rows_.first_q, rows_.seq_q);
#pragma unroll 4
    for (int index = lane(); index < 16 * kRowBlocks * kDimBlocks; index += 32) {
      const int row = first_row() + index / kDimBlocks, chunk = index % kDimBlocks;
      const device::Quad q = device::load_shared16(q_tile() + Tile<kDim>::offset(row, chunk));
      const auto* to = out.row(first_query_ + row);
      if (to == nullptr) continue;
      store_chunk(const_cast<std::uint16_t*>(to), out.dim_stride, chunk * 8, dim(), launch_.out_in_chunks, q);
    }
  }

  const AttentionLaunch& launch_;
  const AttentionProblem& problem_;
  SequenceRows rows_{};
  std::int64_t batch_ = 0, head_ = 0;
  int first_query_ = 0, last_query_ = 0;
  float out_[kRowBlocks][kDimBlocks][4] = {};
  float maximum_[kRowBlocks][2];
  float sum_[kRowBlocks][2] = {};
};

template <class Q, class K, class V, class Out, int kDim, Masking kMasking>
FLASH_REF_KERNEL(kAttentionThreads, 2)
attention_fwd_kernel(FLASH_REF_PARAMETER AttentionLaunch launch) {
  AttentionForward<Q, K, V, Out, kDim, kMasking>(launch).run();
}

template <class T, int kDim, Masking kMasking>
int launch_attention_fwd(const AttentionLaunch& launch, unsigned blocks, void* stream) {
  return device::launch(attention_fwd_kernel<T, T, T, T, kDim, kMasking>, blocks, kAttentionThreads,
                        attention_shared_bytes(kDim), stream, launch);
}

}  // namespace flash_ref
