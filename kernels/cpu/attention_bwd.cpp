// Attention, backward. Work is cut by keys: a block of keys of one kv head meets all rows that see it, tile
// by tile, and keeps the sums of its dk and dv meanwhile. What it gives to dq is added to sums in float32
// that all threads share. For the bits not to depend on threads, the blocks add to a tile of rows in the
// order of their keys: each waits for its turn there.
#include <sched.h>

#include <algorithm>
#include <atomic>

#include "kernels/cpu/attention_piece.h"
#include "kernels/cpu/isa.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/threads.h"

namespace flash_ref::cpu {
namespace {

std::int64_t tiles_in(std::int64_t count, std::int64_t size) { return (count + size - 1) / size; }

class Backward {
 public:
  explicit Backward(const AttentionBackward& problem)
      : problem_(problem),
        all_(problem.forward),
        steps_(selected_isa()->table->attention_bwd),
        group_(all_.kv_heads == 0 ? 0 : all_.heads / all_.kv_heads),
        tile_(steps_.rows(all_.element)),
        keys_(steps_.keys(all_.dim)),
        blocks_(tiles_in(all_.seq_k, keys_)),
        tiles_(tiles_in(all_.seq_q * group_, tile_)),
        total_q_(all_.q_offsets == nullptr ? all_.batch * all_.seq_q
                                           : all_.q_offsets[all_.batch * all_.q_offsets_stride]),
        sum_floats_(total_q_ * all_.heads * steps_.width(all_.dim)),
        delta_floats_(total_q_ * all_.heads) {}

  std::int64_t pieces() const { return all_.batch * all_.kv_heads * blocks_; }
  std::int64_t row_pieces() const { return all_.batch * all_.kv_heads * tiles_; }
  bool nothing_to_do() const { return all_.dim == 0 || (pieces() == 0 && row_pieces() == 0); }

  std::size_t scratch_bytes() const { return (steps_.scratch(all_.element, all_.dim) + 63) / 64 * 64; }
  std::size_t shared_bytes() const {
    const auto floats = static_cast<std::size_t>(sum_floats_ + delta_floats_ + row_pieces());
    return (floats * sizeof(float) + 63) / 64 * 64;
  }

  void solve(void* memory, int threads) {
    sums_ = static_cast<float*>(memory);
    turns_ = reinterpret_cast<std::int32_t*>(sums_ + sum_floats_ + delta_floats_);
    scratch_ = static_cast<char*>(memory) + shared_bytes();
    const auto scratch_of = [&](int thread) {
      return scratch_ + static_cast<std::size_t>(thread) * scratch_bytes();
    };
    run_pieces(row_pieces(), threads, [&](std::int64_t index, int thread) {
      turns_[index] = 0;
      with_rows(index, steps_.prepare, scratch_of(thread));
    });
    // Pieces are taken in their order, whoever hands out numbers: a piece waits only for ones before it.
    std::atomic<std::int64_t> next{0};
    run_pieces(pieces(), threads, [&](std::int64_t, int thread) {
      add_block(next.fetch_add(1, std::memory_order_relaxed), scratch_of(thread));
    });
    run_pieces(row_pieces(), threads, [&](std::int64_t index, int thread) {
      with_rows(index, steps_.finish_rows, scratch_of(thread));
    });
  }

 private:
  struct Range {
    std::int64_t first, last;
  };

  AttentionBwdPiece piece_of_head(std::int64_t batch, std::int64_t kv_head) const {
    const Sequence sequence = sequence_of(all_, batch);
    const std::int64_t head = kv_head * group_;
    AttentionBwdPiece piece{};
    piece.forward = piece_of(all_, batch, kv_head, head, group_, 0, sequence.seq_q);
    piece.keys = sequence.seq_k;
    piece.dout = address_in(problem_.dout, problem_.dout_strides, batch, sequence.first_q, head);
    piece.dq = address_in(problem_.dq, problem_.dq_strides, batch, sequence.first_q, head);
    piece.dk = address_in(problem_.dk, problem_.dk_strides, batch, sequence.first_k, kv_head);
    piece.dv = address_in(problem_.dv, problem_.dv_strides, batch, sequence.first_k, kv_head);
    piece.dout_strides = row_strides(problem_.dout_strides);
    piece.dq_strides = row_strides(problem_.dq_strides);
    piece.dk_strides = row_strides(problem_.dk_strides);
    piece.dv_strides = row_strides(problem_.dv_strides);
    const std::int64_t queries_before = all_.q_offsets == nullptr ? batch * all_.seq_q : sequence.first_q;
    const std::int64_t rows_before = (kv_head * total_q_ + queries_before) * group_;
    piece.dq_sums = sums_ + rows_before * steps_.width(all_.dim);
    piece.deltas = sums_ + sum_floats_ + rows_before;
    return piece;
  }

  Range rows_of(const AttentionBwdPiece& piece, std::int64_t tile) const {
    const std::int64_t rows = piece.forward.queries * group_;
    return {tile * tile_, std::min((tile + 1) * tile_, rows)};
  }

  template <class Step>
  void with_rows(std::int64_t index, Step step, void* scratch) const {
    const std::int64_t head = index / tiles_;
    const AttentionBwdPiece piece = piece_of_head(head / all_.kv_heads, head % all_.kv_heads);
    const Range rows = rows_of(piece, index % tiles_);
    if (rows.first < rows.last) step(piece, rows.first, rows.last, scratch);
  }

  // The blocks of keys that a tile of rows sees some of.
  Range blocks_of(const AttentionPiece& piece, Range rows) const {
    const std::int64_t seq_k = piece.last_key;
    const std::int64_t first = piece.first_position + rows.first / group_;
    const std::int64_t last = piece.first_position + (rows.last - 1) / group_;
    Range keys{0, seq_k};
    if (piece.window != 0) {
      keys.first = std::clamp<std::int64_t>(first - piece.window + 1, 0, seq_k);
      keys.last = std::min(keys.last, last + piece.window);
    }
    if (piece.causal) keys.last = std::min(keys.last, last + 1);
    if (keys.first >= keys.last) return {0, 0};
    return {keys.first / keys_, tiles_in(keys.last, keys_)};
  }

  void add_block(std::int64_t index, void* scratch) const {
    const std::int64_t block = index % blocks_, head = index / blocks_;
    AttentionBwdPiece piece = piece_of_head(head / all_.kv_heads, head % all_.kv_heads);
    const AttentionPiece whole = piece.forward;
    piece.forward.first_key = block * keys_;
    piece.forward.last_key = std::min((block + 1) * keys_, whole.last_key);
    if (piece.forward.first_key >= piece.forward.last_key) return;
    steps_.start_keys(piece, scratch);
    for (std::int64_t tile = 0; tile < tiles_; ++tile) {
      const Range rows = rows_of(piece, tile);
      if (rows.first >= rows.last) break;
      const Range blocks = blocks_of(whole, rows);
      if (block < blocks.first || block >= blocks.last) continue;
      steps_.add_rows(piece, rows.first, rows.last, scratch);
      const std::atomic_ref<std::int32_t> turn(turns_[head * tiles_ + tile]);
      while (turn.load(std::memory_order_acquire) != block - blocks.first) sched_yield();
      steps_.add_dq(piece, rows.first, rows.last, scratch);
      turn.fetch_add(1, std::memory_order_release);
    }
    steps_.finish_keys(piece, scratch);
  }

  const AttentionBackward& problem_;
  const AttentionProblem& all_;
  const AttentionBwdSteps& steps_;
  std::int64_t group_, tile_, keys_, blocks_, tiles_, total_q_, sum_floats_, delta_floats_;
  float* sums_ = nullptr;
  std::int32_t* turns_ = nullptr;
  char* scratch_ = nullptr;
};

}  // namespace

std::size_t attention_bwd_scratch_bytes(const AttentionBackward& problem) {
  const Backward backward(problem);
  return backward.nothing_to_do() ? 0 : backward.scratch_bytes();
}

std::size_t attention_bwd_shared_bytes(const AttentionBackward& problem) {
  return Backward(problem).shared_bytes();
}

int attention_bwd_threads(const AttentionBackward& problem) {
  const AttentionProblem& all = problem.forward;
  const double work = 5.0 * static_cast<double>(all.batch) * static_cast<double>(all.heads) *
                      static_cast<double>(all.seq_q) * static_cast<double>(all.seq_k) *
                      static_cast<double>(all.dim);
  return useful_threads(work, Backward(problem).pieces());
}

void attention_bwd(const AttentionBackward& problem, void* scratch, int threads) {
  Backward(problem).solve(scratch, threads);
}

}  // namespace flash_ref::cpu
