// Attention, forward: a problem is cut into pieces, which share nothing, and each is solved by the code of
// the selected instruction set (isa/attention.h). A piece has the heads that share one kv head, so that K and
// V are packed for all of them at once. The bits of a result do not depend on how it was cut.
#include <algorithm>

#include "kernels/cpu/attention_piece.h"
#include "kernels/cpu/isa.h"
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

// With few rows, as in decoding, the keys are split instead: parts of one range of keys follow each other,
// head by head, so that memory is read in the order in which it lies. The length is fixed, for the bits not
// to depend on threads.
constexpr std::int64_t kSplitRows = 32;
constexpr std::int64_t kSplitKeys = 512;  // a multiple of every key tile

struct Cut {
  std::int64_t group;         // query heads of a kv head
  std::int64_t heads;         // of a piece
  std::int64_t head_pieces;   // per kv head
  std::int64_t queries;       // of a piece
  std::int64_t query_pieces;  // per sequence
  std::int64_t pieces;
  std::int64_t parts;  // ranges of keys; 1: not split
};

Cut cut_into(const AttentionProblem& problem, std::int64_t rows) {
  Cut cut{};
  if (problem.batch == 0 || problem.heads == 0 || problem.seq_q == 0) return cut;
  cut.group = problem.heads / problem.kv_heads;
  cut.heads = std::min(cut.group, most_rows(problem.dim));
  cut.head_pieces = (cut.group + cut.heads - 1) / cut.heads;
  cut.queries = std::min(std::max<std::int64_t>(rows / cut.heads, 1), problem.seq_q);
  cut.query_pieces = (problem.seq_q + cut.queries - 1) / cut.queries;
  cut.pieces = problem.batch * problem.kv_heads * cut.head_pieces * cut.query_pieces;
  const bool few_rows = cut.query_pieces == 1 && cut.heads * cut.queries <= kSplitRows;
  cut.parts = few_rows ? std::max<std::int64_t>((problem.seq_k + kSplitKeys - 1) / kSplitKeys, 1) : 1;
  return cut;
}

Cut cut_for(const AttentionProblem& problem, int threads) {
  std::int64_t rows = most_rows(problem.dim);
  Cut cut = cut_into(problem, rows);
  while (threads > 1 && cut.pieces < threads * kPiecesPerThread && rows > kLeastRows) {
    rows /= 2;
    cut = cut_into(problem, rows);
  }
  return cut;
}

// A piece beyond the end of a shorter sequence has no queries.
AttentionPiece make_piece(const AttentionProblem& problem, const Cut& cut, std::int64_t index) {
  // The last queries first: under a causal mask they see the most keys.
  const std::int64_t query = (cut.query_pieces - 1 - index % cut.query_pieces) * cut.queries;
  index /= cut.query_pieces;
  const std::int64_t head_in_group = index % cut.head_pieces * cut.heads;
  index /= cut.head_pieces;
  const std::int64_t kv_head = index % problem.kv_heads, batch = index / problem.kv_heads;
  const std::int64_t head = kv_head * cut.group + head_in_group;

  const std::int64_t queries = std::min(cut.queries, sequence_of(problem, batch).seq_q - query);
  if (queries <= 0) return {};
  return piece_of(problem, batch, kv_head, head, std::min(cut.heads, cut.group - head_in_group), query,
                  queries);
}

// Floats that one part leaves unfinished: rows of all pieces.
std::int64_t unfinished_floats(const AttentionProblem& problem, const Cut& cut) {
  return cut.pieces * cut.heads * cut.queries * (problem.dim + 2);
}

// First each range of keys for all pieces, then the rows of each piece joined.
void solve_split(const AttentionProblem& problem, const Cut& cut, char* memory, int threads) {
  const IsaTable& table = *selected_isa()->table;
  const auto scratch_bytes = attention_scratch_bytes(problem);
  float* unfinished = reinterpret_cast<float*>(memory);
  char* scratch = memory + attention_shared_bytes(problem);
  const std::int64_t part_floats = unfinished_floats(problem, cut), piece_floats = part_floats / cut.pieces;
  run_pieces(cut.pieces * cut.parts, threads, [&](std::int64_t index, int thread) {
    const std::int64_t part = index / cut.pieces, number = index % cut.pieces;
    AttentionPiece piece = make_piece(problem, cut, number);
    if (piece.queries <= 0) return;
    piece.first_key = std::min(part * kSplitKeys, piece.last_key);
    piece.last_key = std::min(piece.first_key + kSplitKeys, piece.last_key);
    piece.unfinished = unfinished + part * part_floats + number * piece_floats;
    table.attention(piece, scratch + static_cast<std::size_t>(thread) * scratch_bytes);
  });
  run_pieces(cut.pieces, threads, [&](std::int64_t number, int thread) {
    const AttentionPiece piece = make_piece(problem, cut, number);
    if (piece.queries <= 0) return;
    table.join(piece, unfinished + number * piece_floats, cut.parts, part_floats,
               scratch + static_cast<std::size_t>(thread) * scratch_bytes);
  });
}

}  // namespace

std::size_t attention_scratch_bytes(const AttentionProblem& problem) {
  const Cut cut = cut_into(problem, most_rows(problem.dim));
  if (cut.pieces == 0) return 0;
  const std::size_t bytes = selected_isa()->table->attention_scratch(problem.dim, cut.heads * cut.queries);
  return (bytes + 63) / 64 * 64;
}

std::size_t attention_shared_bytes(const AttentionProblem& problem) {
  const Cut cut = cut_into(problem, most_rows(problem.dim));
  if (cut.pieces == 0 || cut.parts == 1) return 0;
  const auto floats = static_cast<std::size_t>(cut.parts * unfinished_floats(problem, cut));
  return (floats * sizeof(float) + 63) / 64 * 64;
}

int attention_threads(const AttentionProblem& problem) {
  const double work = 2.0 * static_cast<double>(problem.batch) * static_cast<double>(problem.heads) *
                      static_cast<double>(problem.seq_q) * static_cast<double>(problem.seq_k) *
                      static_cast<double>(problem.dim);
  const Cut cut = cut_into(problem, kLeastRows);
  return useful_threads(work, cut.pieces * std::max<std::int64_t>(cut.parts, 1));
}

void attention_fwd(const AttentionProblem& problem, void* scratch, int threads) {
  const Cut whole = cut_into(problem, most_rows(problem.dim));
  if (whole.parts > 1) return solve_split(problem, whole, static_cast<char*>(scratch), threads);
  const Cut cut = cut_for(problem, threads);
  const std::size_t scratch_bytes = attention_scratch_bytes(problem);
  const IsaTable& table = *selected_isa()->table;
  run_pieces(cut.pieces, threads, [&](std::int64_t index, int thread) {
    const AttentionPiece piece = make_piece(problem, cut, index);
    if (piece.queries <= 0) return;
    table.attention(piece, static_cast<char*>(scratch) + static_cast<std::size_t>(thread) * scratch_bytes);
  });
}

}  // namespace flash_ref::cpu
