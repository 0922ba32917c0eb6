// RWKV-7, forward: a block for each head of each sequence.
#include "kernels/cuda/attention_layout.h"
#include "kernels/cuda/element.h"
#include "kernels/cuda/runtime.h"
#include "kernels/cuda/rwkv7_launch.h"

namespace flash_ref {

template <class T, int kDim>
int launch_rwkv7_fwd(const Rwkv7Launch& launch, unsigned blocks, void* stream);

namespace cuda {

int check_rwkv7(const Call& call, const Rwkv7Problem& problem) {
  if (problem.dim > kRwkv7Dims[1]) {
    return call.fail(FLASH_REF_BAD_SHAPE, "r has dim %lld; expected %d at most on a CUDA device",
                     static_cast<long long>(problem.dim), kRwkv7Dims[1]);
  }
  return check_blocks(call, problem.batch * problem.heads);
}

int rwkv7_fwd(const Call& call, const Rwkv7Problem& problem, const Place& place) {
  if (int status = check_rwkv7(call, problem)) return status;
  const std::int64_t blocks = problem.batch * problem.heads;
  const CurrentDevice current(call, place.device);
  if (current.status() != 0 || blocks == 0 || problem.dim == 0) return current.status();
  const bool small = problem.dim <= kRwkv7Dims[0];
  const auto of = [&](auto narrow, auto wide) { return small ? narrow : wide; };
  const auto launch = problem.element == Element::kFloat16
                          ? of(launch_rwkv7_fwd<__half, 64>, launch_rwkv7_fwd<__half, 128>)
                      : problem.element == Element::kBFloat16
                          ? of(launch_rwkv7_fwd<__nv_bfloat16, 64>, launch_rwkv7_fwd<__nv_bfloat16, 128>)
                          : of(launch_rwkv7_fwd<float, 64>, launch_rwkv7_fwd<float, 128>);
  return status_of(call, launch({problem}, static_cast<unsigned>(blocks), place.stream));
}

}  // namespace cuda
}  // namespace flash_ref
