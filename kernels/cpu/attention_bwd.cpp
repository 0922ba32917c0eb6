// Attention, backward. Work is cut by keys: a block of keys of one kv head meets all rows that see it, tile
// by tile, and keeps the sums of its dk and dv meanwhile. What it gives to dq is added to sums in float32
// that all threads share. For the bits not to depend on threads, the blocks add to a tile of rows in the
// order of their keys: each waits for its turn there.
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cmath>

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
        rows_(total_q_ * all_.heads) {}

  std::int64_t heads() const { return all_.batch * all_.kv_heads; }
  std::int64_t pieces() const { return heads() * blocks_; }
  std::int64_t row_pieces() const { return heads() * tiles_; }
  bool nothing_to_do() const { return all_.dim == 0 || (pieces() == 0 && row_pieces() == 0); }

  std::size_t scratch_bytes() const { return (steps_.scratch(all_.element, all_.dim) + 63) / 64 * 64; }
  std::size_t shared_bytes() const {
    const auto floats = static_cast<std::size_t>(sum_floats_ + row_pieces() + heads());
    return (static_cast<std::size_t>(rows_) * sizeof(AttentionBwdRow) + floats * sizeof(float) + 63) / 64 *
           64;
  }

  void solve(void* memory, int threads) {
    kept_ = static_cast<AttentionBwdRow*>(memory);
    sums_ = reinterpret_cast<float*>(kept_ + rows_);
    turns_ = reinterpret_cast<std::int32_t*>(sums_ + sum_floats_);
    again_ = turns_ + row_pieces();
    scratch_ = static_cast<char*>(memory) + shared_bytes();
    std::fill(again_, again_ + heads(), 1);
    run_pieces(row_pieces(), threads, [&](std::int64_t index, int thread) {
      with_rows(index, [&](const AttentionBwdPiece& piece, Range rows) {
        steps_.prepare(piece, rows.first, rows.last, scratch_of(thread));
      });
    });
    add_all(threads);
    if (!correct_rows()) return;
    add_all(threads);
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
    piece.rows = kept_ + rows_before;
    return piece;
  }

  Range rows_of(const AttentionBwdPiece& piece, std::int64_t tile) const {
    const std::int64_t rows = piece.forward.queries * group_;
    return {tile * tile_, std::min((tile + 1) * tile_, rows)};
  }

  void* scratch_of(int thread) const { return scratch_ + static_cast<std::size_t>(thread) * scratch_bytes(); }

  template <class Step>
  void with_rows(std::int64_t index, Step step) const {
    const std::int64_t head = index / tiles_;
    if (again_[head] == 0) return;
    const AttentionBwdPiece piece = piece_of_head(head / all_.kv_heads, head % all_.kv_heads);
    const Range rows = rows_of(piece, index % tiles_);
    if (rows.first < rows.last) step(piece, rows);
  }

  // The gradients of the heads in again_.
  void add_all(int threads) const {
    const std::int64_t width = steps_.width(all_.dim);
    run_pieces(row_pieces(), threads, [&](std::int64_t index, int) {
      turns_[index] = 0;
      with_rows(index, [&](const AttentionBwdPiece& piece, Range rows) {
        std::fill(piece.dq_sums + rows.first * width, piece.dq_sums + rows.last * width, 0.0F);
      });
    });
    // Pieces are taken in order, whatever order run_pieces() has: a piece waits only for ones before it.
    std::atomic<std::int64_t> next{0};
    run_pieces(pieces(), threads, [&](std::int64_t, int thread) {
      add_block(next.fetch_add(1, std::memory_order_relaxed), scratch_of(thread));
    });
    run_pieces(row_pieces(), threads, [&](std::int64_t index, int thread) {
      with_rows(index, [&](const AttentionBwdPiece& piece, Range rows) {
        steps_.finish_rows(piece, rows.first, rows.last, scratch_of(thread));
      });
    });
  }

  // P of a row sums to 1 and dS to 0, but for roundings of lse and out. Where one key has nearly all of the
  // weight, these may be all that dS is. Such rows get the weight and delta that make the sums right, and
  // their heads are done again. Sums that roundings do not account for are left alone: lse and out are then
  // those of more keys than the call has.
  bool correct_rows() const {
    bool any = false;
    for (std::int64_t head = 0; head < heads(); ++head) {
      const AttentionBwdPiece piece = piece_of_head(head / all_.kv_heads, head % all_.kv_heads);
      again_[head] = 0;
      for (std::int64_t r = 0; r < piece.forward.queries * group_; ++r) {
        if (correct(piece.rows[r])) again_[head] = 1, any = true;
      }
    }
    return any;
  }

  bool correct(AttentionBwdRow& row) const {
    constexpr float kOfP = 0x1p-13F;  // less is no more than other roundings do
    const float of_ds = all_.element == Element::kFloat16 ? 0x1p-10F : 0x1p-8F;
    const float p_error = std::abs(row.p - 1), ds_error = std::abs(row.ds);
    if (!(p_error <= row.p_doubt && ds_error <= row.doubt)) return false;
    if (p_error <= kOfP && ds_error <= of_ds * row.ds_size) return false;
    row.weight = 1 / row.p;
    const float given = row.delta, correction = row.ds * row.weight;
    row.delta = given + correction;
    row.rest = correction - (row.delta - given);
    return true;
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
    if (again_[head] == 0) return;
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
  std::int64_t group_, tile_, keys_, blocks_, tiles_, total_q_, sum_floats_, rows_;
  AttentionBwdRow* kept_ = nullptr;
  float* sums_ = nullptr;
  std::int32_t *turns_ = nullptr,
               *again_ = nullptr;  // of each tile of rows: blocks added; of each head: is to do
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
