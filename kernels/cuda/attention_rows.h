// What a warp keeps of its rows while keys go by: their output so far, maximum and sum. A row block is 16
// rows; this lane has row lane / 4 (half 0) and the one 8 below (half 1) of each, and of a row the columns
// that a fragment of mma gives it, so that maximum and sum of a row need four lanes only.
#pragma once

#include "kernels/cuda/scores.h"
#include "kernels/cuda/tile.h"

namespace flash_ref {

template <class Q, class V, int kDim, int kRowBlocks, int kKeys>
struct AttentionRows {
  static constexpr int kKeyBlocks = kKeys / 8, kDimBlocks = kDim / 8;
  static constexpr float kNothing = kNoKey;
  using Scores = float[kRowBlocks][kKeyBlocks][4];
  // Probabilities as fragments of a left side: the fragments of a product are what the next one wants.
  using Weights = std::uint32_t[kRowBlocks][kKeyBlocks / 2][4];

  float out_[kRowBlocks][kDimBlocks][4] = {};
  float maximum_[kRowBlocks][2];   // of scores
  float sum_[kRowBlocks][2] = {};  // this lane's part

  FLASH_REF_DEVICE AttentionRows() {
#pragma unroll
    for (int i = 0; i < kRowBlocks * 2; ++i) maximum_[i / 2][i % 2] = kNothing;
  }

  FLASH_REF_DEVICE static int lane() { return device::thread() % 32; }
  FLASH_REF_DEVICE static int first_row() { return device::thread() / 32 * 16 * kRowBlocks; }
  FLASH_REF_DEVICE static int row_of(int m, int half) { return first_row() + m * 16 + half * 8 + lane() / 4; }
  // The key of number i of a row's scores, counted from the tile's first.
  FLASH_REF_DEVICE static int key_of(int i) { return i / 2 * 8 + lane() % 4 * 2 + i % 2; }

  FLASH_REF_DEVICE void multiply_by_keys(Scores& scores, std::uint32_t q_tile, std::uint32_t k_tile) {
#pragma unroll
    for (int chunk = 0; chunk < kDim / 8; chunk += 2) {
      std::uint32_t q[kRowBlocks][4];
#pragma unroll
      for (int m = 0; m < kRowBlocks; ++m) Tile<kDim>::load_left(q[m], q_tile, first_row() + m * 16, chunk);
#pragma unroll
      for (int n = 0; n < kKeyBlocks; n += 2) {
        std::uint32_t k[4];
        Tile<kDim>::load_right_transposed(k, k_tile, n * 8, chunk);
#pragma unroll
        for (int m = 0; m < kRowBlocks; ++m) {
          device::multiply_add<Q>(scores[m][n], q[m], k[0], k[1]);
          device::multiply_add<Q>(scores[m][n + 1], q[m], k[2], k[3]);
        }
      }
    }
  }

  // The online softmax: scores to probabilities against the maximum so far, in the dtype of V.
  FLASH_REF_DEVICE void soften(Scores& scores, Weights& weights, float scale) {
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
    }
    round_weights(scores, weights);
  }

  FLASH_REF_DEVICE static void round_weights(const Scores& scores, Weights& weights) {
#pragma unroll
    for (int m = 0; m < kRowBlocks; ++m) {
#pragma unroll
      for (int n = 0; n < kKeyBlocks; ++n) {
        weights[m][n / 2][n % 2 * 2] = device::pack<V>(scores[m][n][0], scores[m][n][1]);
        weights[m][n / 2][n % 2 * 2 + 1] = device::pack<V>(scores[m][n][2], scores[m][n][3]);
      }
    }
  }

  FLASH_REF_DEVICE void multiply_by_values(const Weights& weights, std::uint32_t v_tile) {
#pragma unroll
    for (int k = 0; k < kKeyBlocks / 2; ++k) {
#pragma unroll
      for (int n = 0; n < kDimBlocks; n += 2) {
        std::uint32_t v[4];
        Tile<kDim>::load_right(v, v_tile, k * 16, n);
#pragma unroll
        for (int m = 0; m < kRowBlocks; ++m) {
          device::multiply_add<V>(out_[m][n], weights[m][k], v[0], v[1]);
          device::multiply_add<V>(out_[m][n + 1], weights[m][k], v[2], v[3]);
        }
      }
    }
  }

  // Whether this thread's part of the tile of V has a NaN or infinity, which times 0 would be NaN.
  FLASH_REF_DEVICE static bool have_holes(std::uint32_t v_tile) {
    bool any = false;
#pragma unroll 4
    for (int at = device::thread() * 16; at < kKeys * Tile<kDim>::kRowBytes; at += kAttentionThreads * 16) {
      const device::Quad q = device::load_shared16(v_tile + static_cast<std::uint32_t>(at));
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const float value = device::widen<V>(q.x[i / 2] >> i % 2 * 16 & 0xffffU);
        any = any || !(value - value == 0);
      }
    }
    return any;
  }

  // The product of weights and values over pairs of a query and a key that it sees, for tiles of V that have
  // such numbers. seen(m, half) are the keys of a row, counted from the tile's first. The weights of 16 rows
  // at a time lie in `scratch`.
  template <class Seen>
  FLASH_REF_DEVICE void multiply_one_by_one(const Weights& weights, std::uint32_t v_tile,
                                            std::uint32_t scratch, const Seen& seen) {
    const std::uint32_t mine =
        scratch + static_cast<std::uint32_t>((device::thread() / 32 * 16 + lane() / 4) * kKeys * 2);
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
      for (int key = 0; key < kKeys; ++key) {
#pragma unroll
        for (int half = 0; half < 2; ++half) add_key(m, half, key, seen(m, half), mine, v_tile);
      }
      device::warp_barrier();
    }
  }

  FLASH_REF_DEVICE void add_key(int m, int half, int key, KeyRange seen, std::uint32_t weights,
                                std::uint32_t v_tile) {
    const std::uint32_t pair =
        device::load_shared4(weights + static_cast<std::uint32_t>(half * 8 * kKeys * 2 + key / 2 * 4));
    const float weight = device::widen<V>(key % 2 == 0 ? pair & 0xffffU : pair >> 16);
    if (key < seen.first || key >= seen.last) return;
#pragma unroll
    for (int n = 0; n < kDimBlocks; ++n) {
      const std::uint32_t v = device::load_shared4(v_tile + Tile<kDim>::offset(key, n) +
                                                   static_cast<std::uint32_t>(lane() % 4 * 4));
      out_[m][n][half * 2] += weight * device::widen<V>(v & 0xffffU);
      out_[m][n][half * 2 + 1] += weight * device::widen<V>(v >> 16);
    }
  }

  // The sum of a row, in all of its lanes.
  FLASH_REF_DEVICE float total(int m, int half) const { return sum_of_row(sum_[m][half]); }
  FLASH_REF_DEVICE static float sum_of_row(float mine) {
    const float sum = mine + device::shuffle_xor(mine, 1);
    return sum + device::shuffle_xor(sum, 2);
  }

  // The rows' output times `share`, rounded, to their place in a tile that only this warp touches.
  template <class Out>
  FLASH_REF_DEVICE void round_to_tile(std::uint32_t tile, int m, int half, float share) const {
#pragma unroll
    for (int n = 0; n < kDimBlocks; ++n) {
      device::store_shared4(
          tile + Tile<kDim>::offset(row_of(m, half), n) + static_cast<std::uint32_t>(lane() % 4 * 4),
          device::pack<Out>(out_[m][n][half * 2] * share, out_[m][n][half * 2 + 1] * share));
    }
  }
};

}  // namespace flash_ref
