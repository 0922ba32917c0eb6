// RWKV-7, forward: the state of one head is a matrix of values by keys whose rows never meet. A piece owns
// some rows, kept transposed, so that a vector holds one column of several rows and no sum crosses lanes. One
// pass over the columns applies a step and already gathers the next step's S a (formulae:
// kernels/formulae.md).
#pragma once

#include "kernels/cpu/isa/exponential.h"
#include "kernels/cpu/isa/pack.h"
#include "kernels/cpu/piece.h"

namespace flash_ref::cpu::FLASH_REF_ISA {

#if defined(__AVX512F__)
constexpr int kStateVectors = 4;
#else
constexpr int kStateVectors = 2;
#endif
constexpr std::int64_t kStateRows = kStateVectors * kLanes;

template <class T>
class StateRows {
 public:
  FLASH_REF_INLINE StateRows(const Rwkv7Problem& problem, std::int64_t index, float* memory)
      : problem_(problem), width_(round_up(problem.dim, kLanes)) {
    const std::int64_t blocks = (problem.dim + kStateRows - 1) / kStateRows;
    first_row_ = index % blocks * kStateRows;
    head_ = index / blocks % problem.heads;
    batch_ = index / blocks / problem.heads;
    rows_ = smaller(kStateRows, problem.dim - first_row_);
    state_ = memory;
    r_ = state_ + problem.dim * kStateRows;
    decay_ = r_ + width_;
    k_ = decay_ + width_;
    b_ = k_ + width_;
    a_ = b_ + width_;
  }

  static FLASH_REF_INLINE std::int64_t floats(std::int64_t dim) {
    return dim * kStateRows + 5 * round_up(dim, kLanes);
  }

  void run() {
    load_state();
    Vec projected[kStateVectors];  // S a of the step to come
    project_first(projected);
    for (std::int64_t t = 0; t < problem_.seq; ++t) {
      load_step(t);
      step(t, projected);
    }
    store_state();
  }

 private:
  FLASH_REF_INLINE const T* row(const void* base, const Strides4& strides, std::int64_t t) const {
    return static_cast<const T*>(base) + batch_ * strides[0] + t * strides[1] + head_ * strides[2];
  }

  void load(const void* base, const Strides4& strides, std::int64_t t, float* to) const {
    constexpr std::int64_t kPositionsAhead = 8;
    const T* from = row(base, strides, t);
    prefetch_row(from, kPositionsAhead, strides[1], problem_.dim);
    for (std::int64_t j = 0; j < problem_.dim; j += kLanes) {
      store(to + j, widen_some(from + j * strides[3], strides[3], smaller(kLanes, problem_.dim - j)));
    }
  }

  void load_step(std::int64_t t) {
    load(problem_.r, problem_.r_strides, t, r_);
    load(problem_.w, problem_.w_strides, t, decay_);
    load(problem_.k, problem_.k_strides, t, k_);
    load(problem_.b, problem_.b_strides, t, b_);
    for (std::int64_t j = 0; j < problem_.dim; j += kLanes) {
      const Vec w = FLASH_REF_ISA::load(decay_ + j);
      store(decay_ + j, exp2_nonpositive(plain_nan(w) * 1.44269504F));
    }
    if (t + 1 < problem_.seq) load(problem_.a, problem_.a_strides, t + 1, a_);
  }

  void load_state() {
    const std::int64_t* strides = problem_.initial_strides;
    for (std::int64_t j = 0; j < problem_.dim; ++j) {
      for (std::int64_t i = 0; i < kStateRows; ++i) {
        const bool given = problem_.initial_state != nullptr && i < rows_;
        state_[j * kStateRows + i] =
            given ? problem_.initial_state[batch_ * strides[0] + head_ * strides[1] +
                                           (first_row_ + i) * strides[2] + j * strides[3]]
                  : 0.0F;
      }
    }
  }

  void project_first(Vec (&projected)[kStateVectors]) {
    for (int n = 0; n < kStateVectors; ++n) projected[n] = Vec{};
    if (problem_.seq == 0) return;
    load(problem_.a, problem_.a_strides, 0, a_);
    for (std::int64_t j = 0; j < problem_.dim; ++j) {
      for (int n = 0; n < kStateVectors; ++n) {
        const Vec column = FLASH_REF_ISA::load(state_ + j * kStateRows + n * kLanes);
        projected[n] = multiply_add(column, broadcast(a_[j]), projected[n]);
      }
    }
  }

  // S := S diag(decay) + (S a) b^T + v k^T, and o := S r.
  void step(std::int64_t t, Vec (&projected)[kStateVectors]) {
    const T* v = row(problem_.v, problem_.v_strides, t) + first_row_ * problem_.v_strides[3];
    Vec value[kStateVectors], out[kStateVectors], next[kStateVectors];
#pragma GCC unroll 4
    for (int n = 0; n < kStateVectors; ++n) {
      value[n] = widen_some(v + n * kLanes * problem_.v_strides[3], problem_.v_strides[3],
                            larger(smaller(kLanes, rows_ - n * kLanes), 0));
      out[n] = next[n] = Vec{};
    }
    for (std::int64_t j = 0; j < problem_.dim; ++j) {
      const Vec decay = broadcast(decay_[j]), b = broadcast(b_[j]), k = broadcast(k_[j]),
                r = broadcast(r_[j]), a = broadcast(a_[j]);
#pragma GCC unroll 4
      for (int n = 0; n < kStateVectors; ++n) {
        float* place = state_ + j * kStateRows + n * kLanes;
        Vec column = FLASH_REF_ISA::load(place) * decay;
        column = multiply_add(projected[n], b, column);
        column = multiply_add(value[n], k, column);
        store(place, column);
        out[n] = multiply_add(column, r, out[n]);
        next[n] = multiply_add(column, a, next[n]);
      }
    }
    const std::int64_t step_of_out = problem_.out_strides[3];
    T* to = const_cast<T*>(row(problem_.out, problem_.out_strides, t)) + first_row_ * step_of_out;
    for (int n = 0; n < kStateVectors; ++n) {
      const std::int64_t some = larger(smaller(kLanes, rows_ - n * kLanes), 0);
      narrow_some(to + n * kLanes * step_of_out, step_of_out, some, out[n] * broadcast(problem_.scale));
      projected[n] = next[n];
    }
  }

  void store_state() {
    if (problem_.final_state == nullptr) return;
    const std::int64_t* strides = problem_.final_strides;
    for (std::int64_t j = 0; j < problem_.dim; ++j) {
      for (std::int64_t i = 0; i < rows_; ++i) {
        problem_.final_state[batch_ * strides[0] + head_ * strides[1] + (first_row_ + i) * strides[2] +
                             j * strides[3]] = state_[j * kStateRows + i];
      }
    }
  }

  const Rwkv7Problem& problem_;
  std::int64_t width_, first_row_, head_, batch_, rows_;
  float *state_, *r_, *decay_, *k_, *b_, *a_;
};

}  // namespace flash_ref::cpu::FLASH_REF_ISA
