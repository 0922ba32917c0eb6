// Rotary embedding: pairs of elements of each head are rotated by an angle that depends on position and pair
// only. The tables of a position are widened once and used for all its heads.
#include <algorithm>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/row.h"
#include "kernels/cpu/threads.h"

namespace flash_ref::cpu {
namespace {

constexpr std::int64_t kChunk = 64;  // pairs that are worked on at a time

struct Chunk {
  float a[kChunk], b[kChunk], cos[kChunk], sin[kChunk];

  void rotate(std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      const float rotated_a = a[i] * cos[i] - b[i] * sin[i];
      const float rotated_b = b[i] * cos[i] + a[i] * sin[i];
      a[i] = rotated_a;
      b[i] = rotated_b;
    }
  }
};

// Where pair i has its two elements: at i * step and at i * step + partner.
struct Pairing {
  std::int64_t step, partner;
};

// Pairs [first, first + count) of every head at one position. A chunk is read before it is written: in place
// works.
template <class T>
void rotate_heads(const RotaryProblem& problem, const T* x, T* out, Pairing pairing, std::int64_t first,
                  std::int64_t count, Chunk& chunk) {
  const std::int64_t x_step = problem.x_strides[3], out_step = problem.out_strides[3];
  for (std::int64_t head = 0; head < problem.heads; ++head) {
    const T* source = x + head * problem.x_strides[2] + first * pairing.step * x_step;
    T* target = out + head * problem.out_strides[2] + first * pairing.step * out_step;
    load_row(source, pairing.step * x_step, count, chunk.a);
    load_row(source + pairing.partner * x_step, pairing.step * x_step, count, chunk.b);
    chunk.rotate(count);
    store_row(chunk.a, 1.0F, count, pairing.step * out_step, target);
    store_row(chunk.b, 1.0F, count, pairing.step * out_step, target + pairing.partner * out_step);
  }
}

template <class T>
void copy_rest(const RotaryProblem& problem, const T* x, T* out) {
  const std::int64_t rotated = 2 * problem.pairs;
  if (x == out || rotated == problem.dim) return;
  const std::int64_t x_step = problem.x_strides[3], out_step = problem.out_strides[3];
  for (std::int64_t head = 0; head < problem.heads; ++head) {
    copy_row(x + head * problem.x_strides[2] + rotated * x_step, x_step, problem.dim - rotated, out_step,
             out + head * problem.out_strides[2] + rotated * out_step);
  }
}

template <class T>
void rotate_position(const RotaryProblem& problem, std::int64_t batch, std::int64_t position) {
  const T* x =
      static_cast<const T*>(problem.x) + batch * problem.x_strides[0] + position * problem.x_strides[1];
  T* out = static_cast<T*>(problem.out) + batch * problem.out_strides[0] + position * problem.out_strides[1];
  const T* cos = static_cast<const T*>(problem.cos) + position * problem.cos_strides[0];
  const T* sin = static_cast<const T*>(problem.sin) + position * problem.sin_strides[0];
  const Pairing pairing = problem.interleaved ? Pairing{2, 1} : Pairing{1, problem.pairs};
  const float direction = problem.conjugate ? -1.0F : 1.0F;
  Chunk chunk;
  for (std::int64_t first = 0; first < problem.pairs; first += kChunk) {
    const std::int64_t count = std::min(kChunk, problem.pairs - first);
    load_row(cos + first * problem.cos_strides[1], problem.cos_strides[1], count, chunk.cos);
    load_row(sin + first * problem.sin_strides[1], problem.sin_strides[1], count, direction, chunk.sin);
    rotate_heads(problem, x, out, pairing, first, count, chunk);
  }
  copy_rest(problem, x, out);
}

template <class T>
void solve(const RotaryProblem& problem) {
  const std::int64_t positions = problem.batch * problem.seq;
  [[maybe_unused]] const int threads = useful_threads(
      static_cast<double>(positions) * static_cast<double>(problem.heads) * static_cast<double>(problem.dim),
      positions);
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) if (threads > 1)
#endif
  for (std::int64_t i = 0; i < positions; ++i) {
    rotate_position<T>(problem, i / problem.seq, i % problem.seq);
  }
}

}  // namespace

void rotary(const RotaryProblem& problem) {
  if (problem.heads == 0 || problem.dim == 0) return;
  switch (problem.element) {
    case Element::kFloat16:
      return solve<Float16>(problem);
    case Element::kBFloat16:
      return solve<BFloat16>(problem);
    case Element::kFloat32:
      return solve<float>(problem);
  }
}

}  // namespace flash_ref::cpu
