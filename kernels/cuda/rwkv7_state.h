// The state of one head, spread over a block: rows are values, columns keys, and a thread has 16 or 32
// columns of one row, groups of four that lie side by side. Sums along a row stay within neighbouring lanes.
#pragma once

#include "kernels/cuda/numbers.h"
#include "kernels/cuda/rwkv7_launch.h"

namespace flash_ref {

constexpr float kLog2OfE = 1.44269504088896341F;

template <int kDim>
struct StatePart {
  static constexpr int kColumns = rwkv7_columns(kDim), kParts = kDim / kColumns;  // kParts: threads of a row
  static constexpr int kThreads = kDim * kParts;
  static constexpr std::uint32_t kVectorBytes = kDim * 4;

  FLASH_REF_DEVICE static int row() { return device::thread() / kParts; }
  FLASH_REF_DEVICE static int part() { return device::thread() % kParts; }
  FLASH_REF_DEVICE static int column(int i) { return (i / 4 * kParts + part()) * 4 + i % 4; }

  // The sum over the threads of a row.
  FLASH_REF_DEVICE static float row_sum(float x) {
#pragma unroll
    for (int step = 1; step < kParts; step *= 2) x += device::shuffle_xor(x, step);
    return x;
  }

  // This thread's columns of a vector in shared memory.
  FLASH_REF_DEVICE static void read(float (&x)[kColumns], std::uint32_t vector) {
#pragma unroll
    for (int i = 0; i < kColumns; i += 4) {
      const device::Quad q = device::load_shared16(vector + static_cast<std::uint32_t>(column(i) * 4));
#pragma unroll
      for (int j = 0; j < 4; ++j) x[i + j] = device::as_float(q.x[j]);
    }
  }
  FLASH_REF_DEVICE static float read_one(std::uint32_t vector) {
    return device::as_float(device::load_shared4(vector + static_cast<std::uint32_t>(row() * 4)));
  }

  // A state in memory; without one, zeros.
  FLASH_REF_DEVICE static void load(float (&state)[kColumns], const float* from, const Strides4& strides,
                                    std::int64_t at, int dim) {
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      const bool present = from != nullptr && row() < dim && column(i) < dim;
      state[i] = present ? device::load(from + at + row() * strides[2] + column(i) * strides[3]) : 0.0F;
    }
  }
  FLASH_REF_DEVICE static void store(float* to, const float (&state)[kColumns], const Strides4& strides,
                                     std::int64_t at, int dim) {
    if (to == nullptr || row() >= dim) return;
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      if (column(i) < dim) device::store(to + at + row() * strides[2] + column(i) * strides[3], state[i]);
    }
  }

  // S := S diag(decay) + u b^T + v k^T for a position whose u = S a is known.
  FLASH_REF_DEVICE static void advance(float (&state)[kColumns], float u, float v, std::uint32_t decay,
                                       std::uint32_t k, std::uint32_t b) {
    float x[kColumns];
    read(x, decay);
#pragma unroll
    for (int i = 0; i < kColumns; ++i) state[i] *= x[i];
    read(x, b);
#pragma unroll
    for (int i = 0; i < kColumns; ++i) state[i] += u * x[i];
    read(x, k);
#pragma unroll
    for (int i = 0; i < kColumns; ++i) state[i] += v * x[i];
  }

  // The row's product with a vector.
  FLASH_REF_DEVICE static float times(const float (&state)[kColumns], std::uint32_t vector) {
    float x[kColumns], sum = 0;
    read(x, vector);
#pragma unroll
    for (int i = 0; i < kColumns; ++i) sum += state[i] * x[i];
    return row_sum(sum);
  }
};

// Vectors of kRwkv7Steps positions in shared memory, as float32.
template <class T, int kDim>
struct StepVectors {
  using Part = StatePart<kDim>;

  FLASH_REF_DEVICE static std::uint32_t at(int vector, int step) {
    return device::shared_memory() +
           static_cast<std::uint32_t>(vector * kRwkv7Steps + step) * Part::kVectorBytes;
  }

  // All threads together. `exponentials`: of the numbers instead of them.
  FLASH_REF_DEVICE static void fill(int vector, const void* base, const Strides4& strides, std::int64_t batch,
                                    std::int64_t head, std::int64_t first, int steps, int dim,
                                    bool exponentials) {
    const auto* from = static_cast<const Storage<T>*>(base) + batch * strides[0] + head * strides[2];
#pragma unroll 4
    for (int i = device::thread(); i < kRwkv7Steps * kDim; i += Part::kThreads) {
      const int step = i / kDim, d = i % kDim;
      float x = 0;
      if (step < steps && d < dim)
        x = Number<T>::widen(device::load(from + (first + step) * strides[1] + d * strides[3]));
      if (exponentials) x = device::exp2_fast(x * kLog2OfE);
      device::store_shared4(at(vector, 0) + static_cast<std::uint32_t>(i * 4), device::as_bits(x));
    }
  }
};

}  // namespace flash_ref
