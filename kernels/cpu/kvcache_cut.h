// How attention with a cache is cut into pieces: as decoding where each sequence has few queries, else as
// attention_fwd does it.
#pragma once

#include "kernels/call/kvcache_problem.h"
#include "kernels/cpu/decode_cut.h"

namespace flash_ref::cpu {

struct KvCacheCut : DecodeCut {
  static constexpr std::int64_t kMostRows = 192;  // as in attention_fwd

  bool decodes;
  std::int64_t parts;                                      // of a sequence at most
  std::int64_t heads, head_pieces, queries, query_pieces;  // where not decoded

  explicit KvCacheCut(const KvCacheProblem& problem) : DecodeCut{problem.splits} {
    const AttentionProblem& attention = problem.attention;
    const std::int64_t group = attention.heads / attention.kv_heads;
    decodes = DecodeCut::decodes(group, attention.seq_q);
    parts = std::clamp<std::int64_t>((attention.seq_k + least_keys() - 1) / least_keys(), 1, most_parts());
    heads = std::min(group, kMostRows);
    head_pieces = (group + heads - 1) / heads;
    queries = std::min(std::max<std::int64_t>(kMostRows / heads, 1), attention.seq_q);
    query_pieces = (attention.seq_q + queries - 1) / queries;
  }

  std::int64_t kv_heads_for(const AttentionProblem& attention, int threads) const {
    return kv_heads_of_piece(attention.kv_heads, attention.heads / attention.kv_heads * attention.seq_q,
                             attention.dim, attention.batch * parts, threads);
  }

  std::int64_t prefill_pieces(const AttentionProblem& attention) const {
    return attention.batch * attention.kv_heads * head_pieces * query_pieces;
  }
};

}  // namespace flash_ref::cpu
