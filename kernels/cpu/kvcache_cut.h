// How attention with a cache is cut into pieces. What decides about the bits of a result, the length of a
// range of keys, depends on the sequence alone; threads only decide how many heads a piece has.
#pragma once

#include <algorithm>

#include "kernels/launch/kvcache_problem.h"

namespace flash_ref::cpu {

struct KvCacheCut {
  static constexpr std::int64_t kDecodeRows = 32;  // of a kv head; with more, packing K and V pays off
  static constexpr std::int64_t kMostRows = 192;   // as in attention_fwd
  static constexpr std::int64_t kLeastKeys = 512;  // of a range; a multiple of a tile of keys
  static constexpr std::int64_t kTile = 256;
  static constexpr std::int64_t kMostParts = 64;
  static constexpr std::int64_t kPieceRows = 128;  // of all kv heads of a decode piece

  bool decodes;
  std::int64_t parts;                                      // of a sequence at most
  std::int64_t splits;                                     // asked for; 0: not
  std::int64_t heads, head_pieces, queries, query_pieces;  // where not decoded, as in attention_fwd

  explicit KvCacheCut(const KvCacheProblem& problem) : splits(problem.splits) {
    const AttentionProblem& attention = problem.attention;
    const std::int64_t group = attention.heads / attention.kv_heads;
    decodes = group <= kDecodeRows && attention.seq_q <= kDecodeRows / group;
    parts = std::clamp<std::int64_t>((attention.seq_k + least_keys() - 1) / least_keys(), 1, most_parts());
    heads = std::min(group, kMostRows);
    head_pieces = (group + heads - 1) / heads;
    queries = std::min(std::max<std::int64_t>(kMostRows / heads, 1), attention.seq_q);
    query_pieces = (attention.seq_q + queries - 1) / queries;
  }

  std::int64_t most_parts() const { return splits == 0 ? kMostParts : splits; }
  std::int64_t least_keys() const { return splits == 0 ? kLeastKeys : kTile; }

  std::int64_t keys_of_part(std::int64_t length) const {
    const std::int64_t keys = (length + most_parts() - 1) / most_parts();
    return std::max((keys + kTile - 1) / kTile * kTile, least_keys());
  }

  std::int64_t parts_of(std::int64_t length) const {
    const std::int64_t keys = keys_of_part(length);
    return std::max<std::int64_t>((length + keys - 1) / keys, 1);
  }

  // kv heads of a decode piece: all of them, whose keys lie side by side, unless threads would idle or the
  // rows would outgrow the cache.
  std::int64_t kv_heads_for(const AttentionProblem& attention, int threads) const {
    const std::int64_t rows = attention.heads / attention.kv_heads * attention.seq_q;
    for (std::int64_t count = attention.kv_heads; count > 1; --count) {
      if (attention.kv_heads % count != 0 || count * rows > kPieceRows) continue;
      const std::int64_t pieces = attention.batch * parts * (attention.kv_heads / count);
      if (threads == 1 || pieces >= 4 * threads) return count;
    }
    return 1;
  }

  std::int64_t prefill_pieces(const AttentionProblem& attention) const {
    return attention.batch * attention.kv_heads * head_pieces * query_pieces;
  }
};

}  // namespace flash_ref::cpu
