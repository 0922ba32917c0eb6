// RWKV-7, forward: a block owns one head of one sequence, whose state stays in its registers while positions
// go by, sixteen at a time in shared memory.
#pragma once

#include "kernels/cuda/rwkv7_state.h"

namespace flash_ref {

template <class Out>
FLASH_REF_DEVICE void store_value(const Rwkv7Problem& problem, std::int64_t batch, std::int64_t position,
                                  std::int64_t head, int row, float value) {
  const Strides4& s = problem.out_strides;
  device::store(
      static_cast<Storage<Out>*>(problem.out) + batch * s[0] + position * s[1] + head * s[2] + row * s[3],
      Number<Out>::narrow(value * problem.scale));
}

template <class R, class W, class K, class V, class A, class B, class Out, int kDim>
FLASH_REF_KERNEL(rwkv7_threads(kDim), 1)
rwkv7_fwd_kernel(FLASH_REF_PARAMETER Rwkv7Launch launch) {
  using Part = StatePart<kDim>;
  using Vectors = StepVectors<R, kDim>;
  const Rwkv7Problem& problem = launch.problem;
  const std::int64_t batch = device::block() / problem.heads, head = device::block() % problem.heads;
  const auto dim = static_cast<int>(problem.dim);
  const auto state_at = [&](const Strides4& s) { return batch * s[0] + head * s[1]; };
  float state[Part::kColumns];
  Part::load(state, problem.initial_state, problem.initial_strides, state_at(problem.initial_strides), dim);
  enum { kR, kDecay, kK, kV, kA, kB };
  for (std::int64_t first = 0; first < problem.seq; first += kRwkv7Steps) {
    const std::int64_t left = problem.seq - first;
    const int steps = left < kRwkv7Steps ? static_cast<int>(left) : kRwkv7Steps;
    const auto fill = [&](int vector, const void* base, const Strides4& strides) {
      Vectors::fill(vector, base, strides, batch, head, first, steps, dim, vector == kDecay);
    };
    device::barrier();
    fill(kR, problem.r, problem.r_strides);
    fill(kDecay, problem.w, problem.w_strides);
    fill(kK, problem.k, problem.k_strides);
    fill(kV, problem.v, problem.v_strides);
    fill(kA, problem.a, problem.a_strides);
    fill(kB, problem.b, problem.b_strides);
    device::barrier();
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      const float u = Part::times(state, Vectors::at(kA, step));
      Part::advance(state, u, Part::read_one(Vectors::at(kV, step)), Vectors::at(kDecay, step),
                    Vectors::at(kK, step), Vectors::at(kB, step));
      const float out = Part::times(state, Vectors::at(kR, step));
      if (Part::part() == 0 && Part::row() < dim)
        store_value<Out>(problem, batch, first + step, head, Part::row(), out);
    }
  }
  Part::store(problem.final_state, state, problem.final_strides, state_at(problem.final_strides), dim);
}

template <class T, int kDim>
int launch_rwkv7_fwd(const Rwkv7Launch& launch, unsigned blocks, void* stream) {
  return device::launch(rwkv7_fwd_kernel<T, T, T, T, T, T, T, kDim>, blocks, rwkv7_threads(kDim),
                        rwkv7_shared_bytes(kDim, 6), stream, launch);
}

}  // namespace flash_ref
