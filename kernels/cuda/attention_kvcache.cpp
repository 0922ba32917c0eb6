// Attention with a cache: its three launches, and the workspace of rows that wait to be joined.
#include "kernels/cuda/attention_layout.h"
#include "kernels/cuda/element.h"
#include "kernels/cuda/kvcache_launch.h"
#include "kernels/cuda/runtime.h"

namespace flash_ref {

template <class T>
int launch_kvcache_append(const KvCacheLaunch& launch, unsigned blocks, void* stream);
template <class T, int kDim>
int launch_attention_kvcache(const KvCacheLaunch& launch, unsigned blocks, void* stream);
template <class T, int kDim>
int launch_kvcache_join(const KvCacheLaunch& launch, unsigned blocks, void* stream);

namespace cuda {
namespace {

constexpr std::int64_t kJoinRows = 4;  // of a block

std::int64_t rows_of(const AttentionProblem& problem) {
  return problem.kv_heads == 0 ? 0 : problem.seq_q * (problem.heads / problem.kv_heads);
}

// Many rows fill the device without ranges.
std::int64_t ranges_of(const KvCacheProblem& problem) {
  const AttentionProblem& attention = problem.attention;
  if (rows_of(attention) > kDecodeRows) return 1;
  const bool asked = problem.splits != 0;
  const std::int64_t least = asked ? kvcache_tiling(padded_dim(attention.dim)).keys : kLeastRange;
  const std::int64_t most = asked ? std::min<std::int64_t>(problem.splits, kMostRows) : kMostRanges;
  return std::clamp<std::int64_t>(pieces_of(attention.seq_k, least), 1, most);
}

std::int64_t waiting_rows(const KvCacheProblem& problem) {
  const std::int64_t ranges = ranges_of(problem);
  return ranges == 1
             ? 0
             : problem.attention.batch * problem.attention.kv_heads * ranges * rows_of(problem.attention);
}

std::size_t bytes_of_waiting(const KvCacheProblem& problem) {
  return static_cast<std::size_t>(waiting_rows(problem) * (problem.attention.dim + 2)) * sizeof(float);
}

struct Launches {
  int (*append)(const KvCacheLaunch&, unsigned, void*);
  int (*attend)(const KvCacheLaunch&, unsigned, void*);
  int (*join)(const KvCacheLaunch&, unsigned, void*);
};

template <class T>
Launches instances(int dim) {
  if (dim == 64)
    return {launch_kvcache_append<T>, launch_attention_kvcache<T, 64>, launch_kvcache_join<T, 64>};
  if (dim == 96)
    return {launch_kvcache_append<T>, launch_attention_kvcache<T, 96>, launch_kvcache_join<T, 96>};
  if (dim == 128)
    return {launch_kvcache_append<T>, launch_attention_kvcache<T, 128>, launch_kvcache_join<T, 128>};
  return {launch_kvcache_append<T>, launch_attention_kvcache<T, 256>, launch_kvcache_join<T, 256>};
}

KvCacheLaunch make_launch(const KvCacheProblem& problem, void* workspace) {
  const AttentionProblem& attention = problem.attention;
  KvCacheLaunch launch{};
  launch.problem = problem;
  launch.problem.attention.window = std::min(attention.window, kMostRows);
  launch.ranges = static_cast<std::int32_t>(ranges_of(problem));
  launch.row_tiles = static_cast<std::int32_t>(pieces_of(rows_of(attention), kDecodeRows));
  launch.least_range = problem.splits != 0 ? kvcache_tiling(padded_dim(attention.dim)).keys : kLeastRange;
  launch.q_in_chunks = in_chunks(attention.q, attention.q_strides, attention.dim);
  launch.k_in_chunks = in_chunks(attention.k, attention.k_strides, attention.dim);
  launch.v_in_chunks = in_chunks(attention.v, attention.v_strides, attention.dim);
  launch.maxima = static_cast<float*>(workspace);
  launch.sums = launch.maxima + waiting_rows(problem) * 2;
  return launch;
}

}  // namespace

std::size_t attention_kvcache_workspace(const KvCacheProblem& problem) {
  if (padded_dim(problem.attention.dim) == 0) return 0;
  return with_alignment(bytes_of_waiting(problem));
}

int attention_kvcache(const Call& call, const KvCacheProblem& problem, const Place& place) {
  const AttentionProblem& attention = problem.attention;
  if (int status = check_attention(call, attention)) return status;
  void* workspace = nullptr;
  if (int status = take_workspace(call, place, bytes_of_waiting(problem), workspace)) return status;
  const KvCacheLaunch launch = make_launch(problem, workspace);
  const std::int64_t rows = rows_of(attention), appended = attention.batch * problem.seq_new;
  const std::int64_t blocks = attention.batch * attention.kv_heads * launch.row_tiles * launch.ranges;
  if (int status = check_blocks(call, std::max(blocks, appended))) return status;
  const CurrentDevice current(call, place.device);
  if (current.status() != 0) return current.status();
  const int dim = padded_dim(attention.dim);
  const Launches run =
      attention.element == Element::kFloat16 ? instances<__half>(dim) : instances<__nv_bfloat16>(dim);
  int error = 0;
  if (appended * attention.kv_heads > 0)
    error = run.append(launch, static_cast<unsigned>(appended), place.stream);
  if (error == 0 && blocks > 0) error = run.attend(launch, static_cast<unsigned>(blocks), place.stream);
  if (error == 0 && launch.ranges > 1 && blocks > 0) {
    const std::int64_t joined = pieces_of(attention.batch * attention.kv_heads * rows, kJoinRows);
    error = run.join(launch, static_cast<unsigned>(joined), place.stream);
  }
  return status_of(call, error);
}

}  // namespace cuda
}  // namespace flash_ref
