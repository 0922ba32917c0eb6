// RWKV-7, backward: a block for each head of each sequence, and the workspace of its states.
#include "kernels/cuda/attention_layout.h"
#include "kernels/cuda/element.h"
#include "kernels/cuda/runtime.h"
#include "kernels/cuda/rwkv7_launch.h"

namespace flash_ref {

template <class T, int kDim>
int launch_rwkv7_bwd(const Rwkv7BackwardLaunch& launch, unsigned blocks, void* stream);

namespace cuda {
namespace {

std::int64_t padded(const Rwkv7Problem& problem) { return kRwkv7Dims[problem.dim <= kRwkv7Dims[0] ? 0 : 1]; }

std::int64_t chunks_of(const Rwkv7Problem& problem) { return pieces_of(problem.seq, kRwkv7Steps); }

std::int64_t floats_of_block(const Rwkv7Problem& problem) {
  return (chunks_of(problem) + kRwkv7Steps) * padded(problem) * padded(problem);
}

std::size_t bytes_of_states(const Rwkv7Problem& problem) {
  if (problem.dim == 0) return 0;
  return static_cast<std::size_t>(problem.batch * problem.heads * floats_of_block(problem)) * sizeof(float);
}

}  // namespace

std::size_t rwkv7_bwd_workspace(const Rwkv7Backward& problem) {
  return with_alignment(bytes_of_states(problem.forward));
}

int rwkv7_bwd(const Call& call, const Rwkv7Backward& problem, const Place& place) {
  const Rwkv7Problem& forward = problem.forward;
  if (int status = check_rwkv7(call, forward)) return status;
  void* workspace = nullptr;
  if (int status = take_workspace(call, place, bytes_of_states(forward), workspace)) return status;
  const std::int64_t blocks = forward.batch * forward.heads;
  const CurrentDevice current(call, place.device);
  if (current.status() != 0 || blocks == 0 || forward.dim == 0) return current.status();
  const Rwkv7BackwardLaunch launch{problem, chunks_of(forward), floats_of_block(forward),
                                   static_cast<float*>(workspace)};
  const bool small = forward.dim <= kRwkv7Dims[0];
  const auto of = [&](auto narrow, auto wide) { return small ? narrow : wide; };
  const auto kernel = forward.element == Element::kFloat16
                          ? of(launch_rwkv7_bwd<__half, 64>, launch_rwkv7_bwd<__half, 128>)
                      : forward.element == Element::kBFloat16
                          ? of(launch_rwkv7_bwd<__nv_bfloat16, 64>, launch_rwkv7_bwd<__nv_bfloat16, 128>)
                          : of(launch_rwkv7_bwd<float, 64>, launch_rwkv7_bwd<float, 128>);
  return status_of(call, kernel(launch, static_cast<unsigned>(blocks), place.stream));
}

}  // namespace cuda
}  // namespace flash_ref
