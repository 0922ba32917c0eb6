// Rotary embedding: how its rows are cut into blocks.
#include "kernels/cuda/attention_layout.h"
#include "kernels/cuda/element.h"
#include "kernels/cuda/rotary_launch.h"
#include "kernels/cuda/runtime.h"

namespace flash_ref {

template <class T>
int launch_rotary(const RotaryLaunch& launch, unsigned blocks, void* stream);

namespace cuda {
namespace {

constexpr std::int64_t kUnitsOfThread = 4;

bool aligned(const void* base, const std::int64_t* strides, int rank) {
  bool all = reinterpret_cast<std::uintptr_t>(base) % 16 == 0 && strides[rank - 1] == 1;
  for (int i = 0; i + 1 < rank; ++i) all = all && strides[i] % 8 == 0;
  return all;
}

RotaryLaunch make_launch(const RotaryProblem& problem) {
  RotaryLaunch launch{};
  launch.problem = problem;
  const std::int64_t rotated = problem.pairs * 2;
  const std::int64_t rotating = problem.interleaved ? pieces_of(rotated, 8) : pieces_of(problem.pairs, 8);
  const std::int64_t copying = pieces_of(problem.dim - rotated, 8);
  launch.rotating_units = static_cast<std::int32_t>(rotating);
  launch.copying_units = static_cast<std::int32_t>(copying);
  const std::int64_t wanted = kRotaryThreads * kUnitsOfThread;
  const std::int64_t positions =
      pieces_of(wanted, std::max<std::int64_t>(problem.heads * (rotating + copying), 1));
  launch.positions = static_cast<std::int32_t>(std::min(positions, problem.seq));
  launch.blocks_of_sequence = static_cast<std::int32_t>(pieces_of(problem.seq, launch.positions));
  const bool whole = problem.interleaved ? rotated % 8 == 0 : problem.pairs % 8 == 0;
  const bool x = aligned(problem.x, problem.x_strides, 4), out = aligned(problem.out, problem.out_strides, 4);
  launch.x_in_chunks = whole && x;
  launch.out_in_chunks = whole && out;
  launch.tail_in_chunks = x && out && rotated % 8 == 0 && problem.dim % 8 == 0;
  launch.tables_in_chunks =
      whole && aligned(problem.cos, problem.cos_strides, 2) && aligned(problem.sin, problem.sin_strides, 2);
  return launch;
}

}  // namespace

int rotary(const Call& call, const RotaryProblem& problem, const Place& place) {
  if (problem.batch * problem.seq * problem.heads * problem.dim == 0) return FLASH_REF_OK;
  if (problem.heads * problem.dim > kMostRows || problem.seq > kMostRows) {
    return call.fail(FLASH_REF_BAD_SHAPE,
                     "x has %lld positions of %lld elements; expected %lld of each at most on a CUDA device",
                     static_cast<long long>(problem.seq), static_cast<long long>(problem.heads * problem.dim),
                     static_cast<long long>(kMostRows));
  }
  const RotaryLaunch launch = make_launch(problem);
  const std::int64_t blocks = problem.batch * launch.blocks_of_sequence;
  if (int status = check_blocks(call, blocks)) return status;
  const CurrentDevice current(call, place.device);
  if (current.status() != 0) return current.status();
  const auto instance = problem.element == Element::kFloat16    ? launch_rotary<__half>
                        : problem.element == Element::kBFloat16 ? launch_rotary<__nv_bfloat16>
                                                                : launch_rotary<float>;
  return status_of(call, instance(launch, static_cast<unsigned>(blocks), place.stream));
}

}  // namespace cuda
}  // namespace flash_ref
