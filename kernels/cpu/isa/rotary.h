// Rotary embedding: pairs of elements of each head are rotated by an angle that depends on position and pair
// only. The tables of a position are widened once and used for all its heads; then each element is read and
// written once.
#pragma once

#include "kernels/cpu/isa/convert.h"
#include "kernels/launch/problem.h"

namespace flash_ref::cpu::FLASH_REF_ISA {

constexpr std::int64_t kChunk = 128;  // pairs that are worked on at a time; a multiple of every kLanes

template <int... kLane>
FLASH_REF_INLINE Vec neighbours_swapped(Vec value) {
  return __builtin_shufflevector(value, value, (kLane ^ 1)...);
}

FLASH_REF_INLINE Vec swap_neighbours(Vec value) {
#if defined(__AVX512F__)
  return neighbours_swapped<0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15>(value);
#elif defined(__AVX2__)
  return neighbours_swapped<0, 1, 2, 3, 4, 5, 6, 7>(value);
#else
  return neighbours_swapped<0, 1, 2, 3>(value);
#endif
}

template <class T>
class PositionRotator {
 public:
  FLASH_REF_INLINE PositionRotator(const RotaryProblem& problem, std::int64_t index) : problem_(problem) {
    const std::int64_t batch = index / problem.seq, position = index % problem.seq;
    x_ = static_cast<const T*>(problem.x) + batch * problem.x_strides[0] + position * problem.x_strides[1];
    out_ = static_cast<T*>(problem.out) + batch * problem.out_strides[0] + position * problem.out_strides[1];
    cos_ = static_cast<const T*>(problem.cos) + position * problem.cos_strides[0];
    sin_ = static_cast<const T*>(problem.sin) + position * problem.sin_strides[0];
  }

  void rotate() {
    for (std::int64_t first = 0; first < problem_.pairs; first += kChunk) {
      const std::int64_t count = smaller(kChunk, problem_.pairs - first);
      load_tables(first, count);
      for (std::int64_t head = 0; head < problem_.heads; ++head) {
        const T* x = x_ + head * problem_.x_strides[2];
        T* out = out_ + head * problem_.out_strides[2];
        if (problem_.interleaved) {
          rotate_interleaved(x, out, first, count);
        } else {
          rotate_halves(x, out, first, count);
        }
      }
    }
    copy_rest();
  }

 private:
  void load_tables(std::int64_t first, std::int64_t count) {
    const Vec direction = broadcast(problem_.conjugate ? -1.0F : 1.0F);
    for (std::int64_t i = 0; i < count; i += kLanes) {
      const std::int64_t some = smaller(kLanes, count - i);
      const std::int64_t c = problem_.cos_strides[1], s = problem_.sin_strides[1];
      store(cosines_ + i, widen_some(cos_ + (first + i) * c, c, some));
      store(sines_ + i, widen_some(sin_ + (first + i) * s, s, some) * direction);
    }
    if (!problem_.interleaved) return;
    // Each entry twice, with the sign that its element of the pair takes.
    for (std::int64_t i = count; i-- > 0;) {
      cosines_[2 * i] = cosines_[2 * i + 1] = cosines_[i];
      sines_[2 * i + 1] = sines_[i];
      sines_[2 * i] = -sines_[2 * i + 1];
    }
  }

  // Pairs (i, i + pairs): a' = a cos - b sin, b' = b cos + a sin.
  void rotate_halves(const T* x, T* out, std::int64_t first, std::int64_t count) {
    const std::int64_t x_step = problem_.x_strides[3], out_step = problem_.out_strides[3];
    const T *first_half = x + first * x_step, *second_half = first_half + problem_.pairs * x_step;
    T *first_out = out + first * out_step, *second_out = first_out + problem_.pairs * out_step;
    for (std::int64_t i = 0; i < count; i += kLanes) {
      const std::int64_t some = smaller(kLanes, count - i);
      const Vec a = widen_some(first_half + i * x_step, x_step, some);
      const Vec b = widen_some(second_half + i * x_step, x_step, some);
      const Vec cos = load(cosines_ + i), sin = load(sines_ + i);
      narrow_some(first_out + i * out_step, out_step, some, a * cos - b * sin);
      narrow_some(second_out + i * out_step, out_step, some, b * cos + a * sin);
    }
  }

  // Pairs (2i, 2i + 1): every element times its cosine, plus its neighbour times the signed sine.
  void rotate_interleaved(const T* x, T* out, std::int64_t first, std::int64_t count) {
    const std::int64_t x_step = problem_.x_strides[3], out_step = problem_.out_strides[3];
    for (std::int64_t i = 0; i < 2 * count; i += kLanes) {
      const std::int64_t some = smaller(kLanes, 2 * count - i), at = 2 * first + i;
      const Vec value = widen_some(x + at * x_step, x_step, some);
      const Vec rotated = value * load(cosines_ + i) + swap_neighbours(value) * load(sines_ + i);
      narrow_some(out + at * out_step, out_step, some, rotated);
    }
  }

  // Bits, not values: a NaN keeps its payload.
  void copy_rest() {
    if (x_ == out_) return;
    const std::int64_t x_step = problem_.x_strides[3], out_step = problem_.out_strides[3];
    for (std::int64_t head = 0; head < problem_.heads; ++head) {
      const T* from = x_ + head * problem_.x_strides[2];
      T* to = out_ + head * problem_.out_strides[2];
      for (std::int64_t d = 2 * problem_.pairs; d < problem_.dim; ++d) {
        __builtin_memcpy(to + d * out_step, from + d * x_step, sizeof(T));
      }
    }
  }

  const RotaryProblem& problem_;
  const T *x_, *cos_, *sin_;
  T* out_;
  float cosines_[2 * kChunk], sines_[2 * kChunk];
};

}  // namespace flash_ref::cpu::FLASH_REF_ISA
