// Attention, forward: which instance of the kernel, and its blocks.
#include "kernels/cuda/attention_layout.h"
#include "kernels/cuda/element.h"
#include "kernels/cuda/runtime.h"

namespace flash_ref {

// In the files that the build makes of attention_fwd.h, one for each instance.
template <class T, int kDim, Masking kMasking>
int launch_attention_fwd(const AttentionLaunch& launch, unsigned blocks, void* stream);

namespace cuda {
namespace {

using Launch = int (*)(const AttentionLaunch&, unsigned, void*);

template <class T, int kDim>
constexpr Launch kOfDim[] = {launch_attention_fwd<T, kDim, Masking::kNone>,
                             launch_attention_fwd<T, kDim, Masking::kCausal>,
                             launch_attention_fwd<T, kDim, Masking::kGeneral>};

template <class T>
Launch instance(int dim, Masking masking) {
  const auto which = static_cast<int>(masking);
  if (dim == 64) return kOfDim<T, 64>[which];
  if (dim == 96) return kOfDim<T, 96>[which];
  if (dim == 128) return kOfDim<T, 128>[which];
  return kOfDim<T, 256>[which];
}

}  // namespace

int attention_fwd(const Call& call, const AttentionProblem& problem, const Place& place) {
  if (int status = check_attention(call, problem)) return status;
  const int dim = padded_dim(problem.dim);
  const std::int64_t tiles = query_tiles(problem, attention_tiling(dim).queries);
  const std::int64_t sequences = problem.q_offsets == nullptr ? problem.batch : 1;
  const std::int64_t blocks = tiles * problem.heads * sequences;
  if (int status = check_blocks(call, blocks)) return status;
  const CurrentDevice current(call, place.device);
  if (current.status() != 0 || blocks == 0) return current.status();
  const Masking masking = masking_of(problem);
  const Launch launch = problem.element == Element::kFloat16 ? instance<__half>(dim, masking)
                                                             : instance<__nv_bfloat16>(dim, masking);
  return status_of(call, launch(make_launch(problem, tiles), static_cast<unsigned>(blocks), place.stream));
}

}  // namespace cuda
}  // namespace flash_ref
