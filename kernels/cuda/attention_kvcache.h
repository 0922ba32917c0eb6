// Attention with a cache: as attention_fwd.h, but a row is one query of one of the heads that share a kv
// head, so that keys are read once for all of them; keys lie in pages; and a block has one range of the keys,
// after which rows are left unfinished where there are more.
#pragma once

#include "kernels/cuda/attention_rows.h"
#include "kernels/cuda/kvcache_rows.h"

namespace flash_ref {

// How the keys of a sequence are cut.
struct KeyCut {
  int keys, ranges;

  FLASH_REF_DEVICE KeyCut(const KvCacheLaunch& launch, int length, int tile) {
    const int share = (length + launch.ranges - 1) / launch.ranges;
    keys = larger_of((share + tile - 1) / tile * tile, launch.least_range);
    ranges = launch.ranges == 1 ? 1 : larger_of((length + keys - 1) / keys, 1);
    if (launch.ranges == 1) keys = larger_of(length, 1);
  }
};

template <class Q, class K, class V, class Out, int kDim>
class CachedAttention {
 public:
  static constexpr int kKeys = kvcache_tiling(kDim).keys;
  using Rows = AttentionRows<Q, V, kDim, 1, kKeys>;

  FLASH_REF_DEVICE explicit CachedAttention(const KvCacheLaunch& launch)
      : launch_(launch),
        problem_(launch.problem),
        attention_(launch.problem.attention),
        group_(static_cast<int>(attention_.heads / attention_.kv_heads)),
        queries_(static_cast<int>(attention_.seq_q)),
        range_(static_cast<int>(device::block() % static_cast<unsigned>(launch.ranges))),
        first_row_(static_cast<int>(device::block() / static_cast<unsigned>(launch.ranges) %
                                    static_cast<unsigned>(launch.row_tiles)) *
                   kDecodeRows),
        kv_head_(device::block() / static_cast<unsigned>(launch.ranges) /
                 static_cast<unsigned>(launch.row_tiles) % attention_.kv_heads),
        batch_(device::block() / static_cast<unsigned>(launch.ranges) /
               static_cast<unsigned>(launch.row_tiles) / attention_.kv_heads),
        sequence_(problem_, batch_),
        cut_(launch, sequence_.length, kKeys) {}

  FLASH_REF_DEVICE void run() {
    if (range_ >= cut_.ranges) return;
    const int last_row = smaller_of(first_row_ + kDecodeRows, queries_ * group_) - 1;
    KeyRange keys = keys_seen<Masking::kGeneral>(attention_, position(first_row_ / group_),
                                                 position(last_row / group_), sequence_.length);
    keys.first = larger_of(keys.first, range_ * cut_.keys);
    keys.last = smaller_of(keys.last, (range_ + 1) * cut_.keys);
    const int first = keys.first / kKeys;
    const int last = keys.first < keys.last ? (keys.last + kKeys - 1) / kKeys : first;
    fill_queries();
    if (first < last) start_copies(first);
    device::commit_copies();
    for (int tile = first; tile < last; ++tile) {
      device::wait_copies<0>();
      device::barrier();
      if (tile + 1 < last) start_copies(tile + 1);
      device::commit_copies();
      add_tile(tile);
    }
    device::wait_copies<0>();
    device::barrier();
    if (busy()) finish();
  }

 private:
  static constexpr int kRowBytes = Tile<kDim>::kRowBytes;

  FLASH_REF_DEVICE std::uint32_t q_tile() const { return device::shared_memory(); }
  FLASH_REF_DEVICE std::uint32_t k_tile(int tile) const {
    return q_tile() + static_cast<std::uint32_t>((kDecodeRows + tile % 2 * kKeys) * kRowBytes);
  }
  FLASH_REF_DEVICE std::uint32_t v_tile(int tile) const {
    return q_tile() + static_cast<std::uint32_t>((kDecodeRows + (2 + tile % 2) * kKeys) * kRowBytes);
  }
  FLASH_REF_DEVICE int dim() const { return static_cast<int>(attention_.dim); }
  FLASH_REF_DEVICE int position(int query) const { return query + sequence_.length - queries_; }
  // Whether this warp has a row: with few of them, some warps only copy.
  FLASH_REF_DEVICE bool busy() const { return first_row_ + Rows::first_row() < queries_ * group_; }
  FLASH_REF_DEVICE KeyRange seen_by(int row) const {
    const int place = position(row / group_);
    KeyRange seen = keys_seen<Masking::kGeneral>(attention_, place, place, sequence_.length);
    if (cut_.ranges > 1) seen.last = smaller_of(seen.last, (range_ + 1) * cut_.keys);
    return row < queries_ * group_ ? seen : KeyRange{0, 0};
  }

  FLASH_REF_DEVICE PagedRows rows_of(const void* cache, const Strides4& strides) const {
    return PagedRows(problem_, cache, strides, batch_, kv_head_, sequence_.length);
  }
  // A tile is copied while the one before it is looked at.
  FLASH_REF_DEVICE void start_copies(int tile) const {
    start_tile<kDim, kKeys, kAttentionThreads>(k_tile(tile), rows_of(attention_.k, attention_.k_strides),
                                               tile * kKeys, dim(), launch_.k_in_chunks);
    start_tile<kDim, kKeys, kAttentionThreads>(v_tile(tile), rows_of(attention_.v, attention_.v_strides),
                                               tile * kKeys, dim(), launch_.v_in_chunks);
  }

  // The queries, rotated on their way: eight numbers at a time.
  FLASH_REF_DEVICE void fill_queries() const {
    const Strides4& s = attention_.q_strides;
#pragma unroll 1
    for (int i = device::thread(); i < kDecodeRows * (kDim / 8); i += kAttentionThreads) {
      const int row = i / (kDim / 8), column = i % (kDim / 8) * 8, number = first_row_ + row;
      const int query = number / group_;
      const std::int64_t head = kv_head_ * group_ + number % group_;
      const bool present = number < queries_ * group_;
      const auto* from =
          static_cast<const std::uint16_t*>(attention_.q) + batch_ * s[0] + query * s[1] + head * s[2];
      device::Quad q;
      if (present && problem_.cos != nullptr) {
        const RotatedRow<Q> rotated(problem_, sequence_.cached + (problem_.queries_advance ? query : 0));
#pragma unroll
        for (int n = 0; n < 8; ++n) {
          const std::uint32_t bits = column + n < dim() ? rotated.number(from, s[3], column + n) : 0U;
          q.x[n / 2] = n % 2 == 0 ? bits : q.x[n / 2] | bits << 16;
        }
      } else if (present && launch_.q_in_chunks && column < dim()) {
        q = device::load16(from + column);
      } else {
        q = gather(present ? from : nullptr, s[3], column, dim());
      }
      device::store_shared16(q_tile() + Tile<kDim>::offset(row, column / 8), q);
    }
  }

  FLASH_REF_DEVICE void add_tile(int tile) {
    typename Rows::Weights weights = {};
    if (busy()) {
      typename Rows::Scores scores = {};
      rows_.multiply_by_keys(scores, q_tile(), k_tile(tile));
      transform(scores, tile * kKeys);
      rows_.soften(scores, weights, 1.0F);
    }
    const int last_query = (smaller_of(first_row_ + kDecodeRows, queries_ * group_) - 1) / group_;
    const KeyRange keys{tile * kKeys, (tile + 1) * kKeys};
    const bool masked = !all_seen<Masking::kGeneral>(attention_, position(first_row_ / group_),
                                                     position(last_query), sequence_.length, keys);
    const bool one_by_one = masked && device::barrier_any(Rows::have_holes(v_tile(tile)));
    if (!busy()) return;
    if (!one_by_one) return rows_.multiply_by_values(weights, v_tile(tile));
    const auto seen = [&](int m, int half) {
      const KeyRange all = seen_by(first_row_ + Rows::row_of(m, half));
      return KeyRange{all.first - keys.first, all.last - keys.first};
    };
    rows_.multiply_one_by_one(weights, v_tile(tile), k_tile(tile), seen);
  }

  FLASH_REF_DEVICE void transform(typename Rows::Scores& scores, int first_key) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = first_row_ + Rows::row_of(0, half), query = row / group_;
      const KeyRange seen = seen_by(row);
      const ScoreOptions options(attention_, batch_,
                                 kv_head_ * group_ + (row < queries_ * group_ ? row % group_ : 0));
#pragma unroll
      for (int i = 0; i < kKeys / 4; ++i) {
        float& score = scores[0][i / 2][half * 2 + i % 2];
        const int key = first_key + Rows::key_of(i);
        score = key < seen.first || key >= seen.last
                    ? Rows::kNothing
                    : options.template apply<Q>(score, query, position(query), key);
      }
    }
  }

  FLASH_REF_DEVICE void finish() {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = first_row_ + Rows::row_of(0, half);
      const float sum = rows_.total(0, half);
      if (row >= queries_ * group_) continue;
      if (cut_.ranges > 1) {
        leave_unfinished(row, half, sum);
      } else {
        store_row(row, half, sum);
      }
    }
  }

  FLASH_REF_DEVICE void leave_unfinished(int row, int half, float sum) const {
    const std::int64_t at =
        ((batch_ * attention_.kv_heads + kv_head_) * launch_.ranges + range_) * queries_ * group_ + row;
#pragma unroll
    for (int n = 0; n < Rows::kDimBlocks; ++n) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int column = n * 8 + Rows::lane() % 4 * 2 + i;
        if (column < dim()) device::store(launch_.sums + at * dim() + column, rows_.out_[0][n][half * 2 + i]);
      }
    }
    if (Rows::lane() % 4 != 0) return;
    device::store(launch_.maxima + at * 2, rows_.maximum_[0][half]);
    device::store(launch_.maxima + at * 2 + 1, sum);
  }

  FLASH_REF_DEVICE void store_row(int row, int half, float sum) const {
    const std::int64_t query = row / group_, head = kv_head_ * group_ + row % group_;
    const Strides4& s = attention_.out_strides;
    auto* to = static_cast<std::uint16_t*>(attention_.out) + batch_ * s[0] + query * s[1] + head * s[2];
    const float share = sum == 0 ? 0.0F : 1 / sum;
#pragma unroll
    for (int n = 0; n < Rows::kDimBlocks; ++n) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int column = n * 8 + Rows::lane() % 4 * 2 + i;
        if (column < dim())
          device::store(to + column * s[3], Number<Out>::narrow(rows_.out_[0][n][half * 2 + i] * share));
      }
    }
    if (attention_.lse == nullptr || Rows::lane() % 4 != 0) return;
    const float top = rows_.maximum_[0][half] == Rows::kNothing ? 0.0F : rows_.maximum_[0][half];
    device::store(attention_.lse + batch_ * attention_.lse_strides[0] + head * attention_.lse_strides[1] +
                      query * attention_.lse_strides[2],
                  sum == 0 ? Rows::kNothing : top * kLn2 + device::natural_log(sum));
  }

  const KvCacheLaunch& launch_;
  const KvCacheProblem& problem_;
  const AttentionProblem& attention_;
  int group_, queries_, range_, first_row_;
  std::int64_t kv_head_, batch_;
  CachedSequence sequence_;
  KeyCut cut_;
  Rows rows_;
};

template <class Q, class K, class V, class Out, int kDim>
FLASH_REF_KERNEL(kAttentionThreads, 2)
attention_kvcache_kernel(FLASH_REF_PARAMETER KvCacheLaunch launch) {
  CachedAttention<Q, K, V, Out, kDim>(launch).run();
}

template <class T, int kDim>
int launch_attention_kvcache(const KvCacheLaunch& launch, unsigned blocks, void* stream) {
  return device::launch(attention_kvcache_kernel<T, T, T, T, kDim>, blocks, kAttentionThreads,
                        kvcache_shared_bytes(kDim), stream, launch);
}

}  // namespace flash_ref
