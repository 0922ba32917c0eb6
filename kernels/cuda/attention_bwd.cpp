// Attention, backward: deltas first, anew for rows that see a few keys, then the gradients of queries and
// those of keys and values.
#include "kernels/cuda/attention_bwd_launch.h"
#include "kernels/cuda/attention_layout.h"
#include "kernels/cuda/element.h"
#include "kernels/cuda/runtime.h"

namespace flash_ref {

template <class T>
int launch_attention_bwd_delta(const AttentionBackwardLaunch& launch, unsigned blocks, void* stream);
template <class T, int kDim, bool kOptions, BackwardOf kOf>
int launch_attention_bwd(const AttentionBackwardLaunch& launch, unsigned blocks, void* stream);

namespace cuda {
namespace {

constexpr std::int64_t kDeltaRows = kDeltaThreads / 32;  // of a block

using Launch = int (*)(const AttentionBackwardLaunch&, unsigned, void*);

struct Launches {
  Launch delta, few, queries, keys, values;  // values: null where keys does both
};

template <class T, int kDim, bool kOptions>
constexpr Launches of_dim() {
  constexpr Launch kDelta = launch_attention_bwd_delta<T>,
                   kFew = launch_attention_bwd<T, kDim, true, BackwardOf::kFewKeys>,
                   kQueries = launch_attention_bwd<T, kDim, kOptions, BackwardOf::kQueries>;
  if constexpr (kDim <= 128) {
    return {kDelta, kFew, kQueries, launch_attention_bwd<T, kDim, kOptions, BackwardOf::kKeysAndValues>,
            nullptr};
  } else {
    return {kDelta, kFew, kQueries, launch_attention_bwd<T, kDim, kOptions, BackwardOf::kKeys>,
            launch_attention_bwd<T, kDim, kOptions, BackwardOf::kValues>};
  }
}

template <class T, bool kOptions>
Launches instances(int dim) {
  if (dim == 64) return of_dim<T, 64, kOptions>();
  if (dim == 96) return of_dim<T, 96, kOptions>();
  if (dim == 128) return of_dim<T, 128, kOptions>();
  return of_dim<T, 256, kOptions>();
}

bool adjusted(const AttentionProblem& forward) {
  return forward.softcap != 0 || forward.slopes != nullptr || forward.mask_kind != MaskKind::kNone;
}

Launches instances(const AttentionProblem& forward) {
  const int dim = padded_dim(forward.dim);
  const bool options = adjusted(forward);
  if (forward.element == Element::kFloat16)
    return options ? instances<__half, true>(dim) : instances<__half, false>(dim);
  return options ? instances<__nv_bfloat16, true>(dim) : instances<__nv_bfloat16, false>(dim);
}

std::int64_t rows_of(const AttentionProblem& forward) {
  return forward.q_offsets == nullptr ? forward.batch * forward.seq_q : forward.seq_q;
}

// A delta and an lse of each row.
std::size_t bytes_of_statistics(const AttentionProblem& forward) {
  return static_cast<std::size_t>(rows_of(forward) * forward.heads) * 2 * sizeof(float);
}

std::int64_t tiles_of(const AttentionProblem& forward, std::int64_t rows) {
  return forward.q_offsets == nullptr ? pieces_of(rows, kBackwardRows) : rows / kBackwardRows + forward.batch;
}

AttentionBackwardLaunch make_launch(const AttentionBackward& problem, void* workspace) {
  const AttentionProblem& forward = problem.forward;
  AttentionBackwardLaunch launch{};
  launch.problem = problem;
  launch.problem.forward.window = std::min(forward.window, kMostRows);
  launch.total_q = forward.seq_q;
  launch.total_k = forward.seq_k;
  launch.rows = rows_of(forward);
  launch.query_tiles = static_cast<std::int32_t>(tiles_of(forward, forward.seq_q));
  launch.key_tiles = static_cast<std::int32_t>(tiles_of(forward, forward.seq_k));
  launch.q_in_chunks = in_chunks(forward.q, forward.q_strides, forward.dim);
  launch.k_in_chunks = in_chunks(forward.k, forward.k_strides, forward.dim);
  launch.v_in_chunks = in_chunks(forward.v, forward.v_strides, forward.dim);
  launch.dout_in_chunks = in_chunks(problem.dout, problem.dout_strides, forward.dim);
  launch.dq_in_chunks = in_chunks(problem.dq, problem.dq_strides, forward.dim);
  launch.dk_in_chunks = in_chunks(problem.dk, problem.dk_strides, forward.dim);
  launch.dv_in_chunks = in_chunks(problem.dv, problem.dv_strides, forward.dim);
  launch.adjusted = adjusted(forward);
  launch.deltas = static_cast<float*>(workspace);
  launch.lses = launch.deltas + launch.rows * forward.heads;
  return launch;
}

}  // namespace

std::size_t attention_bwd_workspace(const AttentionBackward& problem) {
  return with_alignment(bytes_of_statistics(problem.forward));
}

int attention_bwd(const Call& call, const AttentionBackward& problem, const Place& place) {
  const AttentionProblem& forward = problem.forward;
  if (int status = check_attention(call, forward)) return status;
  void* workspace = nullptr;
  if (int status = take_workspace(call, place, bytes_of_statistics(forward), workspace)) return status;
  const AttentionBackwardLaunch launch = make_launch(problem, workspace);
  const std::int64_t sequences = forward.q_offsets == nullptr ? forward.batch : 1;
  const std::int64_t of_queries = sequences * forward.heads * launch.query_tiles;
  const std::int64_t of_keys = sequences * forward.kv_heads * launch.key_tiles;
  const std::int64_t of_rows = pieces_of(launch.rows * forward.heads, kDeltaRows);
  if (int status = check_blocks(call, std::max({of_queries, of_keys, of_rows}))) return status;
  const CurrentDevice current(call, place.device);
  if (current.status() != 0 || forward.dim == 0) return current.status();
  const Launches run = instances(forward);
  int error = 0;
  const auto start = [&](Launch kernel, std::int64_t blocks) {
    if (error == 0 && kernel != nullptr && blocks > 0)
      error = kernel(launch, static_cast<unsigned>(blocks), place.stream);
  };
  start(run.delta, of_rows);
  if (can_see_few(forward, kFewKeys)) start(run.few, of_queries);
  start(run.queries, of_queries);
  start(run.keys, of_keys);
  start(run.values, of_keys);
  return status_of(call, error);
}

}  // namespace cuda
}  // namespace flash_ref
