// RWKV-7, backward: a block owns one head of one sequence. Forward once, keeping the state before every
// sixteenth position; then back, sixteen positions at a time, whose states are made again and wait in the
// workspace. A thread has the same sixteen columns of one row of the state and of its gradient. Sums along a
// row stay within neighbouring lanes; sums along a column go through the warp by halves and then through
// shared memory.
#pragma once

#include "kernels/cuda/rwkv7_state.h"

namespace flash_ref {

template <class T, int kDim>
class Rwkv7BackwardBlock {
 public:
  using Part = StatePart<kDim>;
  using Vectors = StepVectors<T, kDim>;
  using State = float[Part::kColumns];

  FLASH_REF_DEVICE explicit Rwkv7BackwardBlock(const Rwkv7BackwardLaunch& launch)
      : problem_(launch.problem),
        forward_(launch.problem.forward),
        batch_(device::block() / forward_.heads),
        head_(device::block() % forward_.heads),
        dim_(static_cast<int>(forward_.dim)),
        kept_(launch.states + device::block() * launch.floats_of_block),
        remade_(kept_ + launch.chunks * kStateFloats) {}

  FLASH_REF_DEVICE void run() {
    State state, gradient;
    Part::load(state, forward_.initial_state, forward_.initial_strides, at_state(forward_.initial_strides),
               dim_);
    const std::int64_t chunks = (forward_.seq + kRwkv7Steps - 1) / kRwkv7Steps;
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
      keep(kept_ + chunk * kStateFloats, state);
      const int steps = fill(chunk);
#pragma unroll 1
      for (int step = 0; step < steps; ++step) advance(state, step);
    }
    Part::load(gradient, problem_.dfinal_state, problem_.dfinal_strides, at_state(problem_.dfinal_strides),
               dim_);
    for (std::int64_t chunk = chunks - 1; chunk >= 0; --chunk) {
      take(kept_ + chunk * kStateFloats, state);
      const int steps = fill(chunk);
#pragma unroll 1
      for (int step = 0; step < steps; ++step) {
        keep(remade_ + step * kStateFloats, state);
        advance(state, step);
      }
#pragma unroll 1
      for (int step = steps - 1; step >= 0; --step)
        go_back(state, gradient, step, chunk * kRwkv7Steps + step);
    }
    Part::store(problem_.dinitial_state, gradient, problem_.dinitial_strides,
                at_state(problem_.dinitial_strides), dim_);
  }

 private:
  static constexpr std::int64_t kStateFloats = std::int64_t{kDim} * kDim;
  static constexpr int kWarps = Part::kThreads / 32;
  static constexpr int kRowsOfWarp = 32 / Part::kParts;
  static constexpr int kSummed = 16;                   // columns of a lane that are summed at a time
  static constexpr int kLeft = kSummed / kRowsOfWarp;  // of those, what a lane has after the warp's sums
  static constexpr bool kThreeStates = kDim <= 64;     // registers hold a third one
  enum { kR, kDecay, kK, kV, kA, kB, kDOut, kVectors };
  enum { kDr, kDk, kDb, kDa, kDw, kColumnSums };

  FLASH_REF_DEVICE std::int64_t at_state(const Strides4& s) const { return batch_ * s[0] + head_ * s[1]; }

  // A state in the workspace lies as threads have it.
  FLASH_REF_DEVICE static void keep(float* to, const State& state) {
#pragma unroll
    for (int i = 0; i < Part::kColumns; ++i)
      device::store(to + i * Part::kThreads + device::thread(), state[i]);
  }
  FLASH_REF_DEVICE static void take(const float* from, State& state) {
#pragma unroll
    for (int i = 0; i < Part::kColumns; ++i)
      state[i] = device::load(from + i * Part::kThreads + device::thread());
  }

  FLASH_REF_DEVICE int fill(std::int64_t chunk) const {
    const std::int64_t first = chunk * kRwkv7Steps, left = forward_.seq - first;
    const int steps = left < kRwkv7Steps ? static_cast<int>(left) : kRwkv7Steps;
    device::barrier();
    const auto one = [&](int vector, const void* base, const Strides4& strides) {
      Vectors::fill(vector, base, strides, batch_, head_, first, steps, dim_, vector == kDecay);
    };
    one(kR, forward_.r, forward_.r_strides);
    one(kDecay, forward_.w, forward_.w_strides);
    one(kK, forward_.k, forward_.k_strides);
    one(kV, forward_.v, forward_.v_strides);
    one(kA, forward_.a, forward_.a_strides);
    one(kB, forward_.b, forward_.b_strides);
    one(kDOut, problem_.dout, problem_.dout_strides);
    device::barrier();
    return steps;
  }

  FLASH_REF_DEVICE static void advance(State& state, int step) {
    const float u = Part::times(state, Vectors::at(kA, step));
    Part::advance(state, u, Part::read_one(Vectors::at(kV, step)), Vectors::at(kDecay, step),
                  Vectors::at(kK, step), Vectors::at(kB, step));
  }

  // `state` is the one after the position, and becomes the one before it; so does its gradient.
  FLASH_REF_DEVICE void go_back(State& state, State& gradient, int step, std::int64_t position) const {
    State before, x;
    if (kThreeStates) take(remade_ + step * kStateFloats, before);
    const float dout = Part::read_one(Vectors::at(kDOut, step)) * forward_.scale;
    Part::read(x, Vectors::at(kR, step));
#pragma unroll
    for (int i = 0; i < Part::kColumns; ++i) gradient[i] += dout * x[i];
    add_columns(kDr, [&](int i) { return dout * state[i]; });
    if (!kThreeStates) take(remade_ + step * kStateFloats, before);
    const float u = Part::times(before, Vectors::at(kA, step));
    const float du = Part::times(gradient, Vectors::at(kB, step));
    const float dv = Part::times(gradient, Vectors::at(kK, step));
    const float v = Part::read_one(Vectors::at(kV, step));
    add_columns(kDk, [&](int i) { return v * gradient[i]; });
    add_columns(kDb, [&](int i) { return u * gradient[i]; });
    add_columns(kDa, [&](int i) { return du * before[i]; });
    Part::read(x, Vectors::at(kDecay, step));
#pragma unroll
    for (int i = 0; i < Part::kColumns; ++i) {
      gradient[i] *= x[i];
      state[i] = before[i];
    }
    add_columns(kDw, [&](int i) { return gradient[i] * state[i]; });
    Part::read(x, Vectors::at(kA, step));
#pragma unroll
    for (int i = 0; i < Part::kColumns; ++i) gradient[i] += du * x[i];
    if (Part::part() == 0) store(problem_.dv, problem_.dv_strides, position, Part::row(), dv);
    device::barrier();
    store_columns(position);
    device::barrier();
  }

  FLASH_REF_DEVICE static std::uint32_t partial(int sum, int warp, int column) {
    return Vectors::at(kVectors, 0) + static_cast<std::uint32_t>(((sum * kWarps + warp) * kDim + column) * 4);
  }

  // Sums over the warp's rows, to shared memory: at each step a lane gives half of its columns to the lane
  // that keeps them, and takes the other half.
  template <class Number>
  FLASH_REF_DEVICE static void add_columns(int sum, const Number& number) {
#pragma unroll
    for (int begin = 0; begin < Part::kColumns; begin += kSummed) {
      float x[kSummed];
#pragma unroll
      for (int i = 0; i < kSummed; ++i) x[i] = number(begin + i);
      int first = begin, count = kSummed;
#pragma unroll
      for (int mask = 16; mask >= Part::kParts; mask /= 2) {
        const bool upper = (device::thread() & mask) != 0;
        count /= 2;
#pragma unroll
        for (int i = 0; i < kSummed / 2; ++i) {
          if (i >= count) continue;
          const float given = upper ? x[i] : x[i + count];
          const float kept = upper ? x[i + count] : x[i];
          x[i] = kept + device::shuffle_xor(given, mask);
        }
        if (upper) first += count;
      }
#pragma unroll
      for (int i = 0; i < kLeft; ++i)
        device::store_shared4(partial(sum, device::thread() / 32, Part::column(first + i)),
                              device::as_bits(x[i]));
    }
  }

  FLASH_REF_DEVICE void store_columns(std::int64_t position) const {
    void* const data[kColumnSums] = {problem_.dr, problem_.dk, problem_.db, problem_.da, problem_.dw};
    const Strides4* const strides[kColumnSums] = {&problem_.dr_strides, &problem_.dk_strides,
                                                  &problem_.db_strides, &problem_.da_strides,
                                                  &problem_.dw_strides};
#pragma unroll
    for (int sum = 0; sum < kColumnSums; ++sum) {
      if (device::thread() >= kDim) break;
      float total = 0;
      for (int warp = 0; warp < kWarps; ++warp)
        total += device::as_float(device::load_shared4(partial(sum, warp, device::thread())));
      store(data[sum], *strides[sum], position, device::thread(), total);
    }
  }

  FLASH_REF_DEVICE void store(void* base, const Strides4& s, std::int64_t position, int d,
                              float value) const {
    if (d >= dim_) return;
    device::store(static_cast<Storage<T>*>(base) + batch_ * s[0] + position * s[1] + head_ * s[2] + d * s[3],
                  Number<T>::narrow(value));
  }

  const Rwkv7Backward& problem_;
  const Rwkv7Problem& forward_;
  std::int64_t batch_, head_;
  int dim_;
  float *kept_, *remade_;
};

// Gradients have the dtype of their inputs, which all have one.
template <class R, class W, class K, class V, class A, class B, class DOut, int kDim>
FLASH_REF_KERNEL(rwkv7_threads(kDim), 1)
rwkv7_bwd_kernel(FLASH_REF_PARAMETER Rwkv7BackwardLaunch launch) {
  Rwkv7BackwardBlock<R, kDim>(launch).run();
}

template <class T, int kDim>
int launch_rwkv7_bwd(const Rwkv7BackwardLaunch& launch, unsigned blocks, void* stream) {
  return device::launch(rwkv7_bwd_kernel<T, T, T, T, T, T, T, kDim>, blocks, rwkv7_threads(kDim),
                        rwkv7_bwd_shared_bytes(kDim), stream, launch);
}

}  // namespace flash_ref
