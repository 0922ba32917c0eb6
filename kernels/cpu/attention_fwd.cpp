// Attention, forward: one piece is a tile of queries of one head. It runs once over the keys, tile by tile,
// and never holds more than one tile of scores.
#include <algorithm>
#include <limits>
#include <numbers>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/product.h"
#include "kernels/cpu/row.h"
#include "kernels/cpu/softmax.h"
#include "kernels/cpu/threads.h"

namespace flash_ref::cpu {
namespace {

constexpr std::int64_t kQueryTile = 64;
constexpr std::int64_t kKeyTile = 64;
static_assert(kKeyTile % kLanes == 0);

std::int64_t round_up(std::int64_t count) { return (count + kLanes - 1) / kLanes * kLanes; }

std::int64_t query_tiles(const AttentionProblem& problem) {
  return (problem.seq_q + kQueryTile - 1) / kQueryTile;
}

// The memory of one thread, cut into tiles. Rows of q, values and out are `width` floats apart, dim and
// padding.
struct Tiles {
  std::int64_t width;
  float* q;         // kQueryTile x width
  float* out;       // kQueryTile x width
  float* keys;      // dim x kKeyTile: transposed
  float* values;    // kKeyTile x width
  float* scores;    // kQueryTile x kKeyTile
  float* key_row;   // width
  SoftmaxRow* row;  // kQueryTile

  Tiles(std::int64_t dim, float* memory) : width(round_up(dim)) {
    q = memory;
    out = q + kQueryTile * width;
    keys = out + kQueryTile * width;
    values = keys + width * kKeyTile;
    scores = values + kKeyTile * width;
    key_row = scores + kQueryTile * kKeyTile;
    row = reinterpret_cast<SoftmaxRow*>(key_row + width);
  }

  static std::size_t bytes(std::int64_t dim) {
    const auto width = static_cast<std::size_t>(round_up(dim));
    return (width * (2 * kQueryTile + 2 * kKeyTile + 1) + kQueryTile * kKeyTile) * sizeof(float) +
           kQueryTile * sizeof(SoftmaxRow);
  }
};

// One tile of queries of one head, with typed pointers to the first row of each operand.
template <class T>
class TileSolver {
 public:
  TileSolver(const AttentionProblem& problem, std::int64_t batch, std::int64_t head, std::int64_t first_query,
             float* memory)
      : problem_(problem),
        batch_(batch),
        head_(head),
        kv_head_(head / (problem.heads / problem.kv_heads)),
        first_query_(first_query),
        queries_(std::min(kQueryTile, problem.seq_q - first_query)),
        tiles_(problem.dim, memory) {}

  void solve() {
    load_queries();
    const std::int64_t keys_end = visible_keys(problem_, first_query_ + queries_ - 1);
    for (std::int64_t key = 0; key < keys_end; key += kKeyTile) {
      add_keys(key, std::min(kKeyTile, keys_end - key));
    }
    store();
  }

 private:
  const T* row_of(const void* data, const Strides4& strides, std::int64_t position, std::int64_t head) const {
    return static_cast<const T*>(data) + batch_ * strides[0] + position * strides[1] + head * strides[2];
  }

  void load_queries() {
    const float factor = problem_.scale * std::numbers::log2e_v<float>;
    for (std::int64_t i = 0; i < queries_; ++i) {
      load_row(row_of(problem_.q, problem_.q_strides, first_query_ + i, head_), problem_.q_strides[3],
               problem_.dim, factor, tiles_.q + i * tiles_.width);
      tiles_.row[i] = {-std::numeric_limits<float>::infinity(), 0.0F};
    }
    std::fill_n(tiles_.out, queries_ * tiles_.width, 0.0F);
  }

  void load_keys(std::int64_t first, std::int64_t count, std::int64_t columns) {
    for (std::int64_t j = 0; j < count; ++j) {
      load_row(row_of(problem_.k, problem_.k_strides, first + j, kv_head_), problem_.k_strides[3],
               problem_.dim, tiles_.key_row);
      for (std::int64_t d = 0; d < problem_.dim; ++d) tiles_.keys[d * kKeyTile + j] = tiles_.key_row[d];
    }
    for (std::int64_t d = 0; d < problem_.dim; ++d) {
      std::fill(tiles_.keys + d * kKeyTile + count, tiles_.keys + d * kKeyTile + columns, 0.0F);
    }
  }

  void load_values(std::int64_t first, std::int64_t count) {
    for (std::int64_t j = 0; j < count; ++j) {
      float* row = tiles_.values + j * tiles_.width;
      load_row(row_of(problem_.v, problem_.v_strides, first + j, kv_head_), problem_.v_strides[3],
               problem_.dim, row);
      std::fill(row + problem_.dim, row + tiles_.width, 0.0F);
    }
  }

  void add_keys(std::int64_t first, std::int64_t count) {
    const std::int64_t columns = round_up(count);
    load_keys(first, count, columns);
    load_values(first, count);
    std::fill_n(tiles_.scores, queries_ * kKeyTile, 0.0F);
    add_product(tiles_.q, tiles_.width, tiles_.keys, kKeyTile, tiles_.scores, kKeyTile, queries_,
                problem_.dim, columns);
    for (std::int64_t i = 0; i < queries_; ++i) add_row(i, first, count, columns);
  }

  // Only the values of visible keys are touched: 0 times a NaN behind the mask would be NaN.
  void add_row(std::int64_t i, std::int64_t first, std::int64_t count, std::int64_t columns) {
    const std::int64_t visible =
        std::clamp<std::int64_t>(visible_keys(problem_, first_query_ + i) - first, 0, count);
    if (visible == 0) return;
    float* scores = tiles_.scores + i * kKeyTile;
    float* out = tiles_.out + i * tiles_.width;
    const float factor = add_scores(tiles_.row[i], scores, visible, columns);
    for (std::int64_t d = 0; d < tiles_.width; ++d) out[d] *= factor;
    add_product(scores, kKeyTile, tiles_.values, tiles_.width, out, tiles_.width, 1, visible, tiles_.width);
  }

  void store() {
    const Strides4& strides = problem_.out_strides;
    T* out = static_cast<T*>(problem_.out) + batch_ * strides[0] + head_ * strides[2];
    for (std::int64_t i = 0; i < queries_; ++i) {
      store_row(tiles_.out + i * tiles_.width, output_factor(tiles_.row[i]), problem_.dim, strides[3],
                out + (first_query_ + i) * strides[1]);
      if (problem_.lse == nullptr) continue;
      problem_.lse[batch_ * problem_.lse_strides[0] + head_ * problem_.lse_strides[1] +
                   (first_query_ + i) * problem_.lse_strides[2]] = log_sum_exp(tiles_.row[i]);
    }
  }

  const AttentionProblem& problem_;
  std::int64_t batch_, head_, kv_head_, first_query_, queries_;
  Tiles tiles_;
};

template <class T>
void solve(const AttentionProblem& problem, char* scratch, [[maybe_unused]] int threads) {
  const std::int64_t tiles = query_tiles(problem);
  const std::int64_t pieces = problem.batch * problem.heads * tiles;
  const std::size_t scratch_bytes = attention_scratch_bytes(problem);
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(dynamic) if (threads > 1)
#endif
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    char* memory = scratch + static_cast<std::size_t>(thread_number()) * scratch_bytes;
    const std::int64_t head = piece / tiles;
    TileSolver<T>(problem, head / problem.heads, head % problem.heads, piece % tiles * kQueryTile,
                  reinterpret_cast<float*>(memory))
        .solve();
  }
}

}  // namespace

std::size_t attention_scratch_bytes(const AttentionProblem& problem) {
  if (problem.batch == 0 || problem.heads == 0 || problem.seq_q == 0) return 0;
  return (Tiles::bytes(problem.dim) + 63) / 64 * 64;
}

int attention_threads(const AttentionProblem& problem) {
  const double work = 2.0 * static_cast<double>(problem.batch) * static_cast<double>(problem.heads) *
                      static_cast<double>(problem.seq_q) * static_cast<double>(problem.seq_k) *
                      static_cast<double>(problem.dim);
  return useful_threads(work, problem.batch * problem.heads * query_tiles(problem));
}

void attention_fwd(const AttentionProblem& problem, void* scratch, int threads) {
  if (attention_scratch_bytes(problem) == 0) return;
  if (problem.element == Element::kFloat16) {
    solve<Float16>(problem, static_cast<char*>(scratch), threads);
  } else {
    solve<BFloat16>(problem, static_cast<char*>(scratch), threads);
  }
}

}  // namespace flash_ref::cpu
