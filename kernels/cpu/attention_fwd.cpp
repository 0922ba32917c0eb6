// Attention, forward: a problem is cut into pieces, which share nothing, and each is solved by the code of
// the selected instruction set. A sequence with many queries goes through isa/attention.h, where a piece has
// the heads that share one kv head, so that K and V are packed for all of them at once. One with few queries
// is decoded (isa/decode.h): its keys are split instead, and the parts are joined. Which way it is depends on
// the sequence alone, and the bits of a result do not depend on how it was cut.
#include <algorithm>

#include "kernels/cpu/attention_piece.h"
#include "kernels/cpu/decode_cut.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/threads.h"

namespace flash_ref::cpu {
namespace {

constexpr std::int64_t kLeastRows = 48;  // a multiple of every kRows; fewer cost more packing than an idle
                                         // thread costs

// Many rows amortise the packing of the keys, as long as they leave room for these in a cache of 1 MiB.
std::int64_t most_rows(std::int64_t dim) {
  constexpr std::int64_t kElements = 768 * 64;
  return std::clamp<std::int64_t>(kElements / std::max<std::int64_t>(dim, 1) / kLeastRows, 1, 16) *
         kLeastRows;
}
constexpr std::int64_t kPiecesPerThread = 4;  // so that the last ones to finish are not far apart

std::size_t padded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

// How sequences with many queries are cut.
struct Cut {
  std::int64_t heads = 0;         // of a piece
  std::int64_t head_pieces = 0;   // per kv head
  std::int64_t queries = 0;       // of a piece
  std::int64_t query_pieces = 0;  // per sequence
  std::int64_t pieces = 0;
};

class Forward {
 public:
  explicit Forward(const AttentionProblem& problem) : problem_(problem) {
    if (problem.heads == 0) return;
    group_ = problem.heads / problem.kv_heads;
    for (std::int64_t b = 0; b < problem.batch; ++b) {
      const Sequence sequence = sequence_of(problem, b);
      if (sequence.seq_q == 0) continue;
      if (!DecodeCut::decodes(group_, sequence.seq_q)) {
        most_queries_ = std::max(most_queries_, sequence.seq_q);
        continue;
      }
      const std::int64_t parts = decode_cut_.parts_of(sequence.seq_k);
      most_decoded_ = std::max(most_decoded_, sequence.seq_q);
      most_parts_ = std::max(most_parts_, parts);
      parts_ += parts;
    }
    for (std::int64_t b = 0; b < problem.batch;) {
      const Wave wave = wave_from(b);
      unfinished_ = std::max(unfinished_, wave.floats);
      b = wave.last;
    }
  }

  std::size_t scratch_bytes() const {
    const IsaTable& table = *selected_isa()->table;
    std::size_t bytes = 0;
    if (most_queries_ > 0) {
      const Cut cut = cut_into(most_rows(problem_.dim));
      bytes = table.attention_scratch(problem_.dim, cut.heads * cut.queries);
    }
    if (most_decoded_ > 0) {
      const std::int64_t rows = std::min(problem_.heads * most_decoded_, DecodeCut::kPieceRows);
      bytes = std::max(bytes, table.decode_scratch(problem_.dim, rows));
    }
    return padded(bytes);
  }

  // Where the unfinished rows of each sequence begin in its wave, and these.
  std::size_t shared_bytes() const {
    if (most_decoded_ == 0) return 0;
    return padded(static_cast<std::size_t>(problem_.batch) * sizeof(std::int64_t)) +
           padded(static_cast<std::size_t>(unfinished_) * sizeof(float));
  }

  int threads() const {
    const double work = 2.0 * static_cast<double>(problem_.batch) * static_cast<double>(problem_.heads) *
                        static_cast<double>(problem_.seq_q) * static_cast<double>(problem_.seq_k) *
                        static_cast<double>(problem_.dim);
    return useful_threads(work, cut_into(kLeastRows).pieces + parts_ * problem_.kv_heads);
  }

  void solve(void* memory, int threads) {
    threads_ = threads;
    scratch_bytes_ = scratch_bytes();
    scratch_ = static_cast<char*>(memory) + shared_bytes();
    if (most_queries_ > 0) prefill();
    if (most_decoded_ == 0) return;
    starts_ = static_cast<std::int64_t*>(memory);
    rows_ = reinterpret_cast<float*>(static_cast<char*>(memory) +
                                     padded(static_cast<std::size_t>(problem_.batch) * sizeof(std::int64_t)));
    decode();
  }

 private:
  Cut cut_into(std::int64_t rows) const {
    Cut cut;
    if (most_queries_ == 0) return cut;
    cut.heads = std::min(group_, most_rows(problem_.dim));
    cut.head_pieces = (group_ + cut.heads - 1) / cut.heads;
    cut.queries = std::min(std::max<std::int64_t>(rows / cut.heads, 1), most_queries_);
    cut.query_pieces = (most_queries_ + cut.queries - 1) / cut.queries;
    cut.pieces = problem_.batch * problem_.kv_heads * cut.head_pieces * cut.query_pieces;
    return cut;
  }

  void* scratch_of(int thread) const { return scratch_ + static_cast<std::size_t>(thread) * scratch_bytes_; }

  void prefill() const {
    std::int64_t rows = most_rows(problem_.dim);
    Cut cut = cut_into(rows);
    while (threads_ > 1 && cut.pieces < threads_ * kPiecesPerThread && rows > kLeastRows) {
      rows /= 2;
      cut = cut_into(rows);
    }
    run_pieces(cut.pieces, threads_,
               [&](std::int64_t index, int thread) { prefill_piece(cut, index, scratch_of(thread)); });
  }

  void prefill_piece(const Cut& cut, std::int64_t index, void* scratch) const {
    // The last queries of all heads first: under a causal mask they see the most keys. The first queries come
    // last, and their pieces may be short: no thread has a long one left when the others are done.
    const std::int64_t of_queries = cut.pieces / cut.query_pieces;
    const std::int64_t end = most_queries_ - index / of_queries * cut.queries;
    const std::int64_t query = std::max<std::int64_t>(end - cut.queries, 0);
    index %= of_queries;
    const std::int64_t head_in_group = index % cut.head_pieces * cut.heads;
    index /= cut.head_pieces;
    const std::int64_t kv_head = index % problem_.kv_heads, batch = index / problem_.kv_heads;
    const std::int64_t seq_q = sequence_of(problem_, batch).seq_q, queries = std::min(end, seq_q) - query;
    if (queries <= 0 || DecodeCut::decodes(group_, seq_q)) return;
    selected_isa()->table->attention(piece_of(problem_, batch, kv_head, kv_head * group_ + head_in_group,
                                              std::min(cut.heads, group_ - head_in_group), query, queries),
                                     scratch);
  }

  std::int64_t part_floats(const Sequence& sequence) const {
    return problem_.heads * sequence.seq_q * unfinished_floats(problem_.dim);
  }

  // Calls body(sequence, its number) if that is decoded.
  template <class Body>
  void if_decoded(std::int64_t batch, const Body& body) const {
    const Sequence sequence = sequence_of(problem_, batch);
    if (sequence.seq_q > 0 && DecodeCut::decodes(group_, sequence.seq_q)) body(sequence);
  }

  AttentionPiece decoded_piece(std::int64_t batch, std::int64_t kv_head, const Sequence& sequence) const {
    return piece_of(problem_, batch, kv_head, kv_head * group_, group_, 0, sequence.seq_q);
  }

  // Sequences whose rows are unfinished at the same time.
  struct Wave {
    std::int64_t first, last, floats;
  };

  Wave wave_from(std::int64_t first) const {
    Wave wave{first, first, 0};
    for (; wave.last < problem_.batch; ++wave.last) {
      std::int64_t floats = 0;
      if_decoded(wave.last, [&](const Sequence& sequence) {
        floats = decode_cut_.parts_of(sequence.seq_k) * part_floats(sequence);
      });
      if (wave.floats > 0 && floats > 0 && wave.floats + floats > DecodeCut::kWaveFloats) break;
      wave.floats += floats;
    }
    return wave;
  }

  void decode() const {
    for (std::int64_t b = 0; b < problem_.batch;) {
      const Wave wave = wave_from(b);
      decode(wave);
      b = wave.last;
    }
  }

  // First each range of keys, one range for all heads before the next, so that memory is read in the order in
  // which it lies; then the rows of each kv head are joined.
  void decode(const Wave& wave) const {
    std::int64_t next = 0;
    for (std::int64_t b = wave.first; b < wave.last; ++b) {
      starts_[b] = next;
      if_decoded(b, [&](const Sequence& sequence) {
        next += decode_cut_.parts_of(sequence.seq_k) * part_floats(sequence);
      });
    }
    const std::int64_t kv_heads = problem_.kv_heads, sequences = wave.last - wave.first;
    const std::int64_t block =
        DecodeCut::kv_heads_of_piece(kv_heads, group_ * most_decoded_, problem_.dim, parts_, threads_);
    const std::int64_t blocks = kv_heads / block;
    run_pieces(sequences * most_parts_ * blocks, threads_, [&](std::int64_t index, int thread) {
      const std::int64_t kv_head = index % blocks * block, part = index / blocks % most_parts_;
      const std::int64_t batch = wave.first + index / blocks / most_parts_;
      if_decoded(batch, [&](const Sequence& sequence) {
        const std::int64_t floats = part_floats(sequence);
        decode_part(decode_cut_, decoded_piece(batch, kv_head, sequence), part, block,
                    rows_ + starts_[batch] + part * floats + floats / kv_heads * kv_head, scratch_of(thread));
      });
    });
    run_pieces(sequences * kv_heads, threads_, [&](std::int64_t index, int thread) {
      const std::int64_t kv_head = index % kv_heads, batch = wave.first + index / kv_heads;
      if_decoded(batch, [&](const Sequence& sequence) {
        const std::int64_t floats = part_floats(sequence);
        selected_isa()->table->join_decoded(decoded_piece(batch, kv_head, sequence),
                                            rows_ + starts_[batch] + floats / kv_heads * kv_head,
                                            decode_cut_.parts_of(sequence.seq_k), floats, scratch_of(thread));
      });
    });
  }

  const AttentionProblem& problem_;
  DecodeCut decode_cut_;
  std::int64_t group_ = 0;
  std::int64_t most_queries_ = 0;                   // of a sequence that is not decoded
  std::int64_t most_decoded_ = 0, most_parts_ = 0;  // queries and ranges of keys of one that is
  std::int64_t parts_ = 0;                          // of all decoded sequences
  std::int64_t unfinished_ = 0;                     // floats of the largest wave
  int threads_ = 1;
  std::size_t scratch_bytes_ = 0;
  char* scratch_ = nullptr;
  std::int64_t* starts_ = nullptr;  // of each sequence in rows_
  float* rows_ = nullptr;
};

}  // namespace

std::size_t attention_scratch_bytes(const AttentionProblem& problem) {
  return Forward(problem).scratch_bytes();
}

std::size_t attention_shared_bytes(const AttentionProblem& problem) {
  return Forward(problem).shared_bytes();
}

int attention_threads(const AttentionProblem& problem) { return Forward(problem).threads(); }

void attention_fwd(const AttentionProblem& problem, void* scratch, int threads) {
  Forward(problem).solve(scratch, threads);
}

}  // namespace flash_ref::cpu
