// Rotary embedding: pairs of elements of each head are rotated by an angle that depends on position and pair
// only. The tables of a position are widened once and used for all its heads; then each element is read and
// written once.
#pragma once

#include "kernels/call/problem.h"
#include "kernels/cpu/isa/columns.h"

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

// kLanes neighbouring pairs, first and second elements apart.
template <int... kLane>
FLASH_REF_INLINE void part(Vec low, Vec high, Vec& first, Vec& second) {
  first = __builtin_shufflevector(low, high, (2 * kLane)...);
  second = __builtin_shufflevector(low, high, (2 * kLane + 1)...);
}

template <int... kLane>
FLASH_REF_INLINE void join(Vec first, Vec second, Vec& low, Vec& high) {
  low = __builtin_shufflevector(first, second, (kLane / 2 + kLane % 2 * kLanes)...);
  high = __builtin_shufflevector(first, second, (kLanes / 2 + kLane / 2 + kLane % 2 * kLanes)...);
}

template <class T>
FLASH_REF_INLINE void load_pairs(const T* from, Vec& first, Vec& second) {
  const Vec low = widen(from), high = widen(from + kLanes);
#if defined(__AVX512F__)
  part<0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15>(low, high, first, second);
#elif defined(__AVX2__)
  part<0, 1, 2, 3, 4, 5, 6, 7>(low, high, first, second);
#else
  part<0, 1, 2, 3>(low, high, first, second);
#endif
}

template <class T>
FLASH_REF_INLINE void store_pairs(T* to, Vec first, Vec second) {
  Vec low, high;
#if defined(__AVX512F__)
  join<0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15>(first, second, low, high);
#elif defined(__AVX2__)
  join<0, 1, 2, 3, 4, 5, 6, 7>(first, second, low, high);
#else
  join<0, 1, 2, 3>(first, second, low, high);
#endif
  narrow(to, low);
  narrow(to + kLanes, high);
}

// A pair of bfloat16 numbers fills 32 bits: a shift and a mask part it, a shift and an or join it.
FLASH_REF_INLINE void load_pairs(const BFloat16* from, Vec& first, Vec& second) {
  const Bits both = load_bits(from);
  first = (Vec)(both << 16);
  second = (Vec)(both & 0xffff0000U);
}

FLASH_REF_INLINE void store_pairs(BFloat16* to, Vec first, Vec second) {
  const Bits both = (rounded_to_bfloat16(first) >> 16) | (rounded_to_bfloat16(second) & 0xffff0000U);
  __builtin_memcpy(to, &both, sizeof both);
}

template <class T>
class PositionRotator {
 public:
  FLASH_REF_INLINE PositionRotator(const RotaryProblem& problem, std::int64_t index) : problem_(problem) {
    const std::int64_t batch = index / problem.seq, position = index % problem.seq;
    x_ = static_cast<const T*>(problem.x) + batch * problem.x_strides[0] + position * problem.x_strides[1];
    out_ = static_cast<T*>(problem.out) + batch * problem.out_strides[0] + position * problem.out_strides[1];
    const std::int64_t row =
        position +
        (problem.offsets == nullptr ? problem.offset : problem.offsets[batch * problem.offsets_stride]);
    cos_ = static_cast<const T*>(problem.cos) + row * problem.cos_strides[0];
    sin_ = static_cast<const T*>(problem.sin) + row * problem.sin_strides[0];
  }

  void rotate() {
    if (rotates_fast()) return rotate_fast();
    for (std::int64_t first = 0; first < problem_.pairs; first += kChunk) {
      const std::int64_t count = smaller(kChunk, problem_.pairs - first);
      load_tables(first, count, problem_.interleaved);
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
  void load_tables(std::int64_t first, std::int64_t count, bool doubled) {
    const Vec direction = broadcast(problem_.conjugate ? -1.0F : 1.0F);
    for (std::int64_t i = 0; i < count; i += kLanes) {
      const std::int64_t some = smaller(kLanes, count - i);
      const std::int64_t c = problem_.cos_strides[1], s = problem_.sin_strides[1];
      store(cosines_ + i, widen_some(cos_ + (first + i) * c, c, some));
      store(sines_ + i, widen_some(sin_ + (first + i) * s, s, some) * direction);
    }
    if (!doubled) return;
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
      narrow_some(first_out + i * out_step, out_step, some, multiply_add(a, cos, -(b * sin)));
      narrow_some(second_out + i * out_step, out_step, some, multiply_add(b, cos, a * sin));
    }
  }

  // Pairs (2i, 2i + 1): every element times its cosine, plus its neighbour times the signed sine.
  void rotate_interleaved(const T* x, T* out, std::int64_t first, std::int64_t count) {
    const std::int64_t x_step = problem_.x_strides[3], out_step = problem_.out_strides[3];
    for (std::int64_t i = 0; i < 2 * count; i += kLanes) {
      const std::int64_t some = smaller(kLanes, 2 * count - i), at = 2 * first + i;
      const Vec value = widen_some(x + at * x_step, x_step, some);
      const Vec rotated = multiply_add(value, load(cosines_ + i), swap_neighbours(value) * load(sines_ + i));
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

  // Whole vectors without gaps, the common case: no branches within a head, and 16-bit formats pair by pair.
  bool rotates_fast() const {
    const bool dense = problem_.x_strides[3] == 1 && problem_.out_strides[3] == 1;
    return dense && problem_.pairs % kLanes == 0 && problem_.pairs <= kChunk;
  }

  void rotate_fast() {
    load_tables(0, problem_.pairs, false);
    const std::int64_t rest = problem_.dim - 2 * problem_.pairs;
    for (std::int64_t head = 0; head < problem_.heads; ++head) {
      const T* x = x_ + head * problem_.x_strides[2];
      T* out = out_ + head * problem_.out_strides[2];
      for (std::int64_t i = 0; i < problem_.pairs; i += kLanes) {
        const Vec cos = load(cosines_ + i), sin = load(sines_ + i);
        Vec a, b;
        if (problem_.interleaved) {
          load_pairs(x + 2 * i, a, b);
        } else {
          a = widen(x + i);
          b = widen(x + problem_.pairs + i);
        }
        const Vec first = multiply_add(a, cos, -(b * sin)), second = multiply_add(b, cos, a * sin);
        if (problem_.interleaved) {
          store_pairs(out + 2 * i, first, second);
        } else {
          narrow(out + i, first);
          narrow(out + problem_.pairs + i, second);
        }
      }
      if (rest > 0 && x != out)
        __builtin_memmove(out + 2 * problem_.pairs, x + 2 * problem_.pairs, rest * sizeof(T));
    }
  }

  const RotaryProblem& problem_;
  const T *x_, *cos_, *sin_;
  T* out_;
  float cosines_[2 * kChunk], sines_[2 * kChunk];
};

}  // namespace flash_ref::cpu::FLASH_REF_ISA
