// RWKV-7, backward, one head: chunks of positions from the last to the first. The states within a chunk are
// computed again from the one kept at its start, then the gradient of the state runs back through it. Here a
// row of the state lies as in memory, keys side by side: of the sums that a position needs, most run over
// rows. Those along a row are made for as many rows at a time as a vector has lanes.
#pragma once

#include "kernels/cpu/isa/columns.h"
#include "kernels/cpu/isa/exponential.h"
#include "kernels/cpu/isa/pack.h"
#include "kernels/cpu/piece.h"

namespace flash_ref::cpu::FLASH_REF_ISA {

constexpr std::int64_t kPositions = 16;  // positions; a state is kept at the start of each chunk

// The memory of one thread, as rows of `width` floats. A state has `width` rows too: those beyond dim are
// computed like the others and not looked at.
struct Rwkv7BwdMemory {
  std::int64_t width, chunks;
  float* kept;                              // the state before each chunk
  float* states;                            // kPositions + 1 of a chunk: before each position, and after
  float* gradient;                          // of the state
  float *r, *decay, *k, *v, *a, *b, *dout;  // of a position
  float* projected;                         // S a of each position of a chunk
  float *dr, *dw, *dk, *dv, *da, *db, *dprojected;  // of a position

  static FLASH_REF_INLINE std::int64_t chunks_of(std::int64_t seq) {
    return (seq + kPositions - 1) / kPositions;
  }

  FLASH_REF_INLINE Rwkv7BwdMemory(std::int64_t dim, std::int64_t seq, float* memory)
      : width(round_up(dim, kLanes)), chunks(chunks_of(seq)) {
    const std::int64_t state = width * width;
    kept = memory;
    states = kept + chunks * state;
    gradient = states + (kPositions + 1) * state;
    projected = gradient + state;
    float* next = projected + kPositions * width;
    float** const rows[] = {&r, &decay, &k, &v, &a, &b, &dout, &dr, &dw, &dk, &dv, &da, &db, &dprojected};
    for (float** row : rows) *row = next, next += width;
  }

  static FLASH_REF_INLINE std::int64_t floats(std::int64_t dim, std::int64_t seq) {
    const std::int64_t row = round_up(dim, kLanes);
    return row * row * (chunks_of(seq) + kPositions + 2) + (kPositions + 14) * row;
  }
};

template <class T>
class HeadGradients {
 public:
  FLASH_REF_INLINE HeadGradients(const Rwkv7Backward& problem, std::int64_t index, float* memory)
      : problem_(problem),
        all_(problem.forward),
        head_(index % all_.heads),
        batch_(index / all_.heads),
        dim_(all_.dim),
        memory_(dim_, all_.seq, memory),
        width_(memory_.width),
        state_floats_(width_ * width_) {}

  void run() {
    keep_states();
    load_state(problem_.dfinal_state, problem_.dfinal_strides, memory_.gradient);
    for (std::int64_t chunk = memory_.chunks; chunk-- > 0;) {
      const std::int64_t first = chunk * kPositions, last = smaller(first + kPositions, all_.seq);
      copy(memory_.kept + chunk * state_floats_, memory_.states);
      for (std::int64_t t = first; t < last; ++t) {
        const std::int64_t i = t - first;
        float* before = memory_.states + i * state_floats_;
        load_position(t);
        step(before, before + state_floats_, memory_.projected + i * width_);
      }
      for (std::int64_t t = last; t-- > first;) {
        const float* before = memory_.states + (t - first) * state_floats_;
        load_position(t);
        go_back(before, before + state_floats_, memory_.projected + (t - first) * width_);
        store_position(t);
      }
    }
    store_state();
  }

 private:
  using Strides = const Strides4&;

  void copy(const float* from, float* to) const {
    for (std::int64_t i = 0; i < state_floats_; i += kLanes) store(to + i, FLASH_REF_ISA::load(from + i));
  }

  void load(const void* base, Strides strides, std::int64_t t, float* to) const {
    const T* from = static_cast<const T*>(base) + batch_ * strides[0] + t * strides[1] + head_ * strides[2];
    for (std::int64_t j = 0; j < dim_; j += kLanes) {
      store(to + j, widen_some(from + j * strides[3], strides[3], smaller(kLanes, dim_ - j)));
    }
  }

  void load_position(std::int64_t t) {
    load(all_.r, all_.r_strides, t, memory_.r);
    load(all_.w, all_.w_strides, t, memory_.decay);
    load(all_.k, all_.k_strides, t, memory_.k);
    load(all_.v, all_.v_strides, t, memory_.v);
    load(all_.a, all_.a_strides, t, memory_.a);
    load(all_.b, all_.b_strides, t, memory_.b);
    load(problem_.dout, problem_.dout_strides, t, memory_.dout);
    for (std::int64_t j = 0; j < width_; j += kLanes) {
      store(memory_.decay + j,
            exp2_nonpositive(plain_nan(FLASH_REF_ISA::load(memory_.decay + j)) * 1.44269504F));
      store(memory_.dout + j, FLASH_REF_ISA::load(memory_.dout + j) * broadcast(all_.scale));
    }
  }

  // A null state is 0.
  void load_state(const float* from, Strides strides, float* to) const {
    for (std::int64_t i = 0; i < state_floats_; ++i) to[i] = 0.0F;
    for (std::int64_t i = 0; from != nullptr && i < dim_; ++i) {
      const float* row = from + batch_ * strides[0] + head_ * strides[1] + i * strides[2];
      for (std::int64_t j = 0; j < dim_; ++j) to[i * width_ + j] = row[j * strides[3]];
    }
  }

  void store_state() const {
    float* to = problem_.dinitial_state;
    if (to == nullptr) return;
    Strides strides = problem_.dinitial_strides;
    to += batch_ * strides[0] + head_ * strides[1];
    for (std::int64_t i = 0; i < dim_; ++i) {
      for (std::int64_t j = 0; j < dim_; ++j)
        to[i * strides[2] + j * strides[3]] = memory_.gradient[i * width_ + j];
    }
  }

  void keep_states() {
    if (memory_.chunks == 0) return;
    load_state(all_.initial_state, all_.initial_strides, memory_.kept);
    float* state = memory_.states;
    copy(memory_.kept, state);
    for (std::int64_t t = 0; t < all_.seq; ++t) {
      if (t % kPositions == 0) copy(state, memory_.kept + t / kPositions * state_floats_);
      load_position(t);
      step(state, state, memory_.projected);
    }
  }

  // u = S a and S' = S diag(decay) + u b^T + v k^T; S' may lie where S does.
  void step(const float* state, float* next, float* projected) const {
    for (std::int64_t first = 0; first < dim_; first += kLanes) {
      project(state + first * width_, projected + first);
      for (std::int64_t i = first; i < first + kLanes; ++i) {
        const Vec u = broadcast(projected[i]), v = broadcast(memory_.v[i]);
        for (std::int64_t j = 0; j < width_; j += kLanes) {
          Vec value = FLASH_REF_ISA::load(state + i * width_ + j) * FLASH_REF_ISA::load(memory_.decay + j);
          value = multiply_add(u, FLASH_REF_ISA::load(memory_.b + j), value);
          value = multiply_add(v, FLASH_REF_ISA::load(memory_.k + j), value);
          store(next + i * width_ + j, value);
        }
      }
    }
  }

  // The products of kLanes rows with a.
  FLASH_REF_INLINE void project(const float* rows, float* projected) const {
    Vec sums[kLanes];
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) sums[i] = Vec{};
    for (std::int64_t j = 0; j < width_; j += kLanes) {
      const Vec a = FLASH_REF_ISA::load(memory_.a + j);
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i)
        sums[i] = multiply_add(FLASH_REF_ISA::load(rows + i * width_ + j), a, sums[i]);
    }
    store(projected, sums_of_rows(sums));
  }

  // D += scale dout r^T for half as many rows as a vector has lanes; their dv = D k, and du = D b for u = S
  // a.
  FLASH_REF_INLINE void add_outer(std::int64_t first) {
    constexpr int kHalf = kLanes / 2;
    Vec sums[kLanes], dout[kHalf];  // dv of the rows, then du
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) sums[i] = Vec{};
#pragma GCC unroll 8
    for (int i = 0; i < kHalf; ++i) dout[i] = broadcast(memory_.dout[first + i]);
    for (std::int64_t j = 0; j < width_; j += kLanes) {
      const Vec r = FLASH_REF_ISA::load(memory_.r + j), k = FLASH_REF_ISA::load(memory_.k + j),
                b = FLASH_REF_ISA::load(memory_.b + j);
#pragma GCC unroll 8
      for (int i = 0; i < kHalf; ++i) {
        float* place = memory_.gradient + (first + i) * width_ + j;
        const Vec d = multiply_add(dout[i], r, FLASH_REF_ISA::load(place));
        sums[i] = multiply_add(d, k, sums[i]);
        sums[kHalf + i] = multiply_add(d, b, sums[kHalf + i]);
        store(place, d);
      }
    }
    float lanes[kLanes];
    store(lanes, sums_of_rows(sums));
    __builtin_memcpy(memory_.dv + first, lanes, sizeof lanes / 2);
    __builtin_memcpy(memory_.dprojected + first, lanes + kHalf, sizeof lanes / 2);
  }

  // With D the gradient of the state after the position, S the state before it and S' the one after.
  void go_back(const float* before, const float* after, const float* projected) {
    for (std::int64_t i = 0; i < dim_; i += kLanes / 2) add_outer(i);
    // dr = S'^T dout, dk = D^T v, db = D^T u, da = S^T du, dw = decay colsum(D o S); D := D diag(decay) + du
    // a^T.
    for (std::int64_t j = 0; j < width_; j += kLanes) {
      const Vec decay = FLASH_REF_ISA::load(memory_.decay + j), a = FLASH_REF_ISA::load(memory_.a + j);
      Vec dr = {}, dk = {}, db = {}, da = {}, dw = {};
      for (std::int64_t i = 0; i < dim_; ++i) {
        float* place = memory_.gradient + i * width_ + j;
        const Vec d = FLASH_REF_ISA::load(place), state = FLASH_REF_ISA::load(before + i * width_ + j);
        const Vec du = broadcast(memory_.dprojected[i]);
        dr = multiply_add(FLASH_REF_ISA::load(after + i * width_ + j), broadcast(memory_.dout[i]), dr);
        dk = multiply_add(d, broadcast(memory_.v[i]), dk);
        db = multiply_add(d, broadcast(projected[i]), db);
        da = multiply_add(state, du, da);
        dw = multiply_add(d, state, dw);
        store(place, multiply_add(du, a, d * decay));
      }
      store(memory_.dr + j, dr), store(memory_.dk + j, dk), store(memory_.db + j, db);
      store(memory_.da + j, da), store(memory_.dw + j, dw * decay);
    }
  }

  void store_row(const float* from, void* base, Strides strides, std::int64_t t) const {
    T* to = static_cast<T*>(base) + batch_ * strides[0] + t * strides[1] + head_ * strides[2];
    for (std::int64_t j = 0; j < dim_; j += kLanes) {
      narrow_some(to + j * strides[3], strides[3], smaller(kLanes, dim_ - j), FLASH_REF_ISA::load(from + j));
    }
  }

  void store_position(std::int64_t t) const {
    store_row(memory_.dr, problem_.dr, problem_.dr_strides, t);
    store_row(memory_.dw, problem_.dw, problem_.dw_strides, t);
    store_row(memory_.dk, problem_.dk, problem_.dk_strides, t);
    store_row(memory_.dv, problem_.dv, problem_.dv_strides, t);
    store_row(memory_.da, problem_.da, problem_.da_strides, t);
    store_row(memory_.db, problem_.db, problem_.db_strides, t);
  }

  const Rwkv7Backward& problem_;
  const Rwkv7Problem& all_;
  std::int64_t head_, batch_, dim_;
  Rwkv7BwdMemory memory_;
  std::int64_t width_, state_floats_;
};

}  // namespace flash_ref::cpu::FLASH_REF_ISA
