// Attention with a cache, in three passes: the new keys and values go to their places in the cache, the
// queries are rotated, and then every sequence is attended to, either by decode pieces, which have few
// queries and one range of keys each, or by the pieces of attention_fwd.
#include <algorithm>

#include "kernels/cpu/isa.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/kvcache_cut.h"
#include "kernels/cpu/threads.h"

namespace flash_ref::cpu {
namespace {

std::size_t padded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

template <class T>
T* element(T* base, std::int64_t offset, std::int64_t bytes = 2) {
  using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
  return static_cast<Byte*>(base) + offset * bytes;
}

// One position of one sequence, all heads, by the rotary kernel: what is not rotated is copied bit for bit.
RotaryProblem one_position(const KvCacheProblem& problem, std::int64_t heads, std::int64_t position) {
  RotaryProblem rotary{};
  rotary.element = problem.attention.element;
  rotary.batch = rotary.seq = 1;
  rotary.heads = heads;
  rotary.dim = problem.attention.dim;
  rotary.interleaved = problem.interleaved;
  if (problem.cos == nullptr) return rotary;
  rotary.pairs = problem.pairs;
  rotary.cos = element(problem.cos, position * problem.cos_strides[0]);
  rotary.sin = element(problem.sin, position * problem.sin_strides[0]);
  rotary.cos_strides[1] = problem.cos_strides[1];
  rotary.sin_strides[1] = problem.sin_strides[1];
  return rotary;
}

void append(const KvCacheProblem& problem, std::int64_t sequence, std::int64_t row) {
  const AttentionProblem& attention = problem.attention;
  const std::int64_t key = problem.cached_of(sequence) + row, slot = key % problem.page_size;
  const std::int64_t page = problem.page_of(sequence, key / problem.page_size);
  const IsaTable& table = *selected_isa()->table;
  RotaryProblem k = one_position(problem, attention.kv_heads, key);
  k.x = element(problem.new_k, sequence * problem.new_k_strides[0] + row * problem.new_k_strides[1]);
  k.out =
      element(const_cast<void*>(attention.k), page * attention.k_strides[0] + slot * attention.k_strides[1]);
  std::copy_n(problem.new_k_strides, 4, k.x_strides);
  std::copy_n(attention.k_strides, 4, k.out_strides);
  table.rotary(k, 0, 1);
  RotaryProblem v = k;
  v.pairs = 0;
  v.x = element(problem.new_v, sequence * problem.new_v_strides[0] + row * problem.new_v_strides[1]);
  v.out =
      element(const_cast<void*>(attention.v), page * attention.v_strides[0] + slot * attention.v_strides[1]);
  std::copy_n(problem.new_v_strides, 4, v.x_strides);
  std::copy_n(attention.v_strides, 4, v.out_strides);
  table.rotary(v, 0, 1);
}

// The rotated queries are compact.
std::size_t rotated_bytes(const KvCacheProblem& problem) {
  const AttentionProblem& attention = problem.attention;
  if (problem.cos == nullptr) return 0;
  return padded(
      static_cast<std::size_t>(attention.batch * attention.seq_q * attention.heads * attention.dim) * 2);
}

void rotate_queries(const KvCacheProblem& problem, void* rotated, int threads, AttentionProblem& attention) {
  const Strides4 compact = {attention.seq_q * attention.heads * attention.dim,
                            attention.heads * attention.dim, attention.dim, 1};
  run_pieces(attention.batch * attention.seq_q, threads, [&](std::int64_t index, int) {
    const std::int64_t sequence = index / attention.seq_q, query = index % attention.seq_q;
    RotaryProblem rotary = one_position(problem, attention.heads,
                                        problem.cached_of(sequence) + (problem.queries_advance ? query : 0));
    const Strides4& strides = problem.attention.q_strides;
    rotary.x = element(problem.attention.q, sequence * strides[0] + query * strides[1]);
    rotary.out = element(rotated, sequence * compact[0] + query * compact[1]);
    std::copy_n(strides, 4, rotary.x_strides);
    std::copy_n(compact, 4, rotary.out_strides);
    selected_isa()->table->rotary(rotary, 0, 1);
  });
  attention.q = rotated;
  std::copy_n(compact, 4, attention.q_strides);
}

// A piece of `queries` queries from `query` on, of `heads` heads of each of the kv heads from `kv_head` on.
AttentionPiece make_piece(const KvCacheProblem& problem, const AttentionProblem& attention,
                          std::int64_t sequence, std::int64_t kv_head, std::int64_t first_head,
                          std::int64_t query) {
  const std::int64_t length = problem.length_of(sequence);
  const std::int64_t head = kv_head * (attention.heads / attention.kv_heads) + first_head;
  AttentionPiece piece{};
  piece.element = attention.element;
  piece.causal = attention.causal;
  const auto row = [&](const Strides4& strides) {
    return sequence * strides[0] + query * strides[1] + head * strides[2];
  };
  piece.q = element(attention.q, row(attention.q_strides));
  piece.out = element(attention.out, row(attention.out_strides));
  piece.k = element(attention.k, kv_head * attention.k_strides[2]);
  piece.v = element(attention.v, kv_head * attention.v_strides[2]);
  if (attention.lse != nullptr) {
    piece.lse = attention.lse + sequence * attention.lse_strides[0] + head * attention.lse_strides[1] +
                query * attention.lse_strides[2];
  }
  const auto strides_of_rows = [](const Strides4& strides) {
    return RowStrides{strides[1], strides[2], strides[3]};
  };
  piece.q_strides = strides_of_rows(attention.q_strides);
  piece.k_strides = strides_of_rows(attention.k_strides);
  piece.v_strides = strides_of_rows(attention.v_strides);
  piece.out_strides = strides_of_rows(attention.out_strides);
  piece.lse_strides = {attention.lse_strides[2], attention.lse_strides[1], 0};
  if (problem.pages != nullptr && problem.pages_strides[1] != 0) {
    piece.pages = {problem.pages + sequence * problem.pages_strides[0],
                   problem.pages_strides[1],
                   problem.page_size,
                   attention.k_strides[0],
                   attention.v_strides[0],
                   nullptr,
                   nullptr};
  } else if (length > 0) {
    const std::int64_t page = problem.page_of(sequence, 0);
    piece.k = element(piece.k, page * attention.k_strides[0]);
    piece.v = element(piece.v, page * attention.v_strides[0]);
  }
  piece.kv_heads = 1;
  piece.dim = attention.dim;
  piece.first_position = query + length - attention.seq_q;
  piece.last_key = length;
  piece.window = attention.window;
  piece.scale = attention.scale;
  piece.softcap = attention.softcap;
  if (attention.slopes != nullptr) {
    piece.slopes =
        attention.slopes + sequence * attention.slope_strides[0] + head * attention.slope_strides[1];
    piece.slope_stride = attention.slope_strides[1];
  }
  return piece;
}

// Sequences of a wave, and the floats that each leaves unfinished.
std::int64_t unfinished_of_sequence(const AttentionProblem& attention, const KvCacheCut& cut) {
  return cut.parts * attention.heads * attention.seq_q * unfinished_floats(attention.dim);
}
std::int64_t sequences_of_wave(const AttentionProblem& attention, const KvCacheCut& cut) {
  return std::clamp<std::int64_t>(KvCacheCut::kWaveFloats / unfinished_of_sequence(attention, cut), 1,
                                  attention.batch);
}

// Wave by wave first each range of keys, then the rows of each kv head joined.
void decode(const KvCacheProblem& problem, const AttentionProblem& attention, const KvCacheCut& cut,
            float* unfinished, char* scratch, std::size_t scratch_bytes, int threads) {
  const std::int64_t group = attention.heads / attention.kv_heads;
  const std::int64_t head_floats = group * attention.seq_q * unfinished_floats(attention.dim);
  const std::int64_t part_floats = head_floats * attention.kv_heads;
  const std::int64_t wave = sequences_of_wave(attention, cut);
  const auto rows_of = [&](std::int64_t sequence) {
    return unfinished + sequence % wave * cut.parts * part_floats;
  };
  const auto piece_of_head = [&](std::int64_t sequence, std::int64_t kv_head) {
    AttentionPiece piece = make_piece(problem, attention, sequence, kv_head, 0, 0);
    piece.heads = group;
    piece.queries = attention.seq_q;
    return piece;
  };
  const std::int64_t heads = cut.kv_heads_for(attention, threads), blocks = attention.kv_heads / heads;
  for (std::int64_t first = 0; first < attention.batch; first += wave) {
    const std::int64_t sequences = std::min(wave, attention.batch - first);
    run_pieces(sequences * cut.parts * blocks, threads, [&](std::int64_t index, int thread) {
      const std::int64_t block = index % blocks, part = index / blocks % cut.parts;
      const std::int64_t sequence = first + index / blocks / cut.parts;
      decode_part(cut, piece_of_head(sequence, block * heads), part, heads,
                  rows_of(sequence) + part * part_floats + block * heads * head_floats,
                  scratch + static_cast<std::size_t>(thread) * scratch_bytes);
    });
    run_pieces(sequences * attention.kv_heads, threads, [&](std::int64_t index, int thread) {
      const std::int64_t kv_head = index % attention.kv_heads, sequence = first + index / attention.kv_heads;
      selected_isa()->table->join_decoded(piece_of_head(sequence, kv_head),
                                          rows_of(sequence) + kv_head * head_floats,
                                          cut.parts_of(problem.length_of(sequence)), part_floats,
                                          scratch + static_cast<std::size_t>(thread) * scratch_bytes);
    });
  }
}

// A tile of K and one of V, put together from their pages; the end of a thread's scratch.
std::size_t gathered_bytes(const KvCacheProblem& problem) {
  if (problem.pages == nullptr || problem.pages_strides[1] == 0) return 0;
  return 2 * padded(static_cast<std::size_t>(KvCacheCut::kTile * problem.attention.dim) * 2);
}

void prefill(const KvCacheProblem& problem, const AttentionProblem& attention, const KvCacheCut& cut,
             char* scratch, std::size_t scratch_bytes, int threads) {
  const std::int64_t group = attention.heads / attention.kv_heads;
  run_pieces(cut.prefill_pieces(attention), threads, [&](std::int64_t index, int thread) {
    // The last queries first: under a causal mask they see the most keys.
    const std::int64_t query = (cut.query_pieces - 1 - index % cut.query_pieces) * cut.queries;
    index /= cut.query_pieces;
    const std::int64_t head = index % cut.head_pieces * cut.heads;
    index /= cut.head_pieces;
    AttentionPiece piece =
        make_piece(problem, attention, index / attention.kv_heads, index % attention.kv_heads, head, query);
    piece.heads = std::min(cut.heads, group - head);
    piece.queries = std::min(cut.queries, attention.seq_q - query);
    char* memory = scratch + static_cast<std::size_t>(thread) * scratch_bytes;
    piece.pages.gathered_k = memory + scratch_bytes - gathered_bytes(problem);
    piece.pages.gathered_v = memory + scratch_bytes - gathered_bytes(problem) / 2;
    selected_isa()->table->attention(piece, memory);
  });
}

std::int64_t rows_of_piece(const KvCacheProblem& problem, const KvCacheCut& cut) {
  const AttentionProblem& attention = problem.attention;
  if (!cut.decodes) return cut.heads * cut.queries;
  return cut.kv_heads_for(attention, 1) * (attention.heads / attention.kv_heads) * attention.seq_q;
}

}  // namespace

std::size_t kvcache_scratch_bytes(const KvCacheProblem& problem) {
  const AttentionProblem& attention = problem.attention;
  if (attention.batch == 0) return 0;
  if (attention.heads == 0 || attention.seq_q == 0) return 64;  // new keys are stored all the same
  const KvCacheCut cut(problem);
  const IsaTable& table = *selected_isa()->table;
  if (cut.decodes) return padded(table.decode_scratch(attention.dim, rows_of_piece(problem, cut)));
  return padded(table.attention_scratch(attention.dim, rows_of_piece(problem, cut))) +
         gathered_bytes(problem);
}

std::size_t kvcache_shared_bytes(const KvCacheProblem& problem) {
  const AttentionProblem& attention = problem.attention;
  if (attention.batch == 0 || attention.heads == 0 || attention.seq_q == 0) return 0;
  const KvCacheCut cut(problem);
  std::size_t bytes = rotated_bytes(problem);
  if (!cut.decodes) return bytes;
  const std::int64_t floats = sequences_of_wave(attention, cut) * unfinished_of_sequence(attention, cut);
  return bytes + padded(static_cast<std::size_t>(floats) * sizeof(float));
}

int kvcache_threads(const KvCacheProblem& problem) {
  const AttentionProblem& attention = problem.attention;
  if (attention.heads == 0 || attention.seq_q == 0) return 1;
  const KvCacheCut cut(problem);
  const double work = 2.0 * static_cast<double>(attention.batch) * static_cast<double>(attention.heads) *
                      static_cast<double>(attention.seq_q) * static_cast<double>(attention.seq_k) *
                      static_cast<double>(attention.dim);
  return useful_threads(
      work, cut.decodes ? attention.batch * cut.parts * attention.kv_heads : cut.prefill_pieces(attention));
}

void attention_kvcache(const KvCacheProblem& problem, void* memory, int threads) {
  AttentionProblem attention = problem.attention;
  run_pieces(
      problem.seq_new == 0 ? 0 : attention.batch * problem.seq_new, threads,
      [&](std::int64_t index, int) { append(problem, index / problem.seq_new, index % problem.seq_new); });
  if (attention.heads == 0 || attention.seq_q == 0) return;
  char* free = static_cast<char*>(memory);
  if (problem.cos != nullptr) rotate_queries(problem, free, threads, attention);
  free += rotated_bytes(problem);
  const KvCacheCut cut(problem);
  const std::size_t scratch_bytes = kvcache_scratch_bytes(problem);
  char* scratch = static_cast<char*>(memory) + kvcache_shared_bytes(problem);
  if (cut.decodes) {
    decode(problem, attention, cut, reinterpret_cast<float*>(free), scratch, scratch_bytes, threads);
  } else {
    prefill(problem, attention, cut, scratch, scratch_bytes, threads);
  }
}

}  // namespace flash_ref::cpu
