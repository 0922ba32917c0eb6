// kernels/cuda/ptx/device/primitives.h for the host: the same functions, made from what the PTX instruction
// set says they do. Instructions that a warp does together collect what each lane brings and are done once.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/cuda/element.h"
#include "tests/emulated/block.h"

#define FLASH_REF_DEVICE inline
#define FLASH_REF_KERNEL(threads, blocks) void
#define FLASH_REF_PARAMETER const

namespace flash_ref::device {

constexpr bool kEmulated = true;

namespace emulated = flash_ref_emulated;

struct Quad {
  std::uint32_t x[4];
};

inline int thread() { return emulated::thread_index(); }
inline unsigned block() { return emulated::block_index(); }
inline std::uint32_t shared_memory() { return 0; }

inline void barrier() { emulated::block_barrier(false); }
inline bool barrier_any(bool mine) { return emulated::block_barrier(mine); }
inline void warp_barrier() { emulated::warp_barrier(); }

struct Shuffle {
  std::uint32_t value;
  int from;
  std::uint32_t result;
};

inline std::uint32_t shuffle(std::uint32_t value, int lane) {
  Shuffle mine{value, lane, 0};
  emulated::with_warp("a shuffle", &mine, [](void* const* all) {
    for (int i = 0; i < emulated::kLanes; ++i) {
      auto* one = static_cast<Shuffle*>(all[i]);
      one->result = static_cast<const Shuffle*>(all[one->from % emulated::kLanes])->value;
    }
  });
  return mine.result;
}
inline float as_float(std::uint32_t bits) { return std::bit_cast<float>(bits); }
inline std::uint32_t as_bits(float value) { return std::bit_cast<std::uint32_t>(value); }
inline float shuffle_xor(float value, int mask) {
  return as_float(shuffle(as_bits(value), thread() % emulated::kLanes ^ mask));
}

inline void copy_async(std::uint32_t to, const void* from, bool present) {
  emulated::start_copy(to, from, present);
}
inline void commit_copies() { emulated::commit_copies(); }
template <int kLeft>
inline void wait_copies() {
  emulated::wait_copies(kLeft);
}

inline Quad load_shared16(std::uint32_t from) {
  Quad q;
  emulated::read_shared(from, &q, sizeof q);
  return q;
}
inline void store_shared16(std::uint32_t to, const Quad& q) { emulated::write_shared(to, &q, sizeof q); }
inline std::uint32_t load_shared4(std::uint32_t from) {
  std::uint32_t x = 0;
  emulated::read_shared(from, &x, sizeof x);
  return x;
}
inline void store_shared4(std::uint32_t to, std::uint32_t x) { emulated::write_shared(to, &x, sizeof x); }

// ldmatrix: what a lane brings is its row; the four matrices are 8 rows each.
struct MatrixLoad {
  std::uint32_t from;
  bool transposed;
  std::uint16_t row[8];
  std::uint32_t* result;
};

inline void resolve_matrices(void* const* all) {
  for (int matrix = 0; matrix < 4; ++matrix) {
    std::uint32_t banks = 0;
    for (int row = 0; row < 8; ++row)
      banks |= 1U << (static_cast<const MatrixLoad*>(all[matrix * 8 + row])->from / 16 % 8);
    ++emulated::counters().matrix_loads;
    if (banks != 0xff) ++emulated::counters().matrix_conflicts;
    for (int lane = 0; lane < emulated::kLanes; ++lane) {
      auto* to = static_cast<MatrixLoad*>(all[lane]);
      std::uint16_t pair[2];
      for (int i = 0; i < 2; ++i) {
        const int row = to->transposed ? 2 * (lane % 4) + i : lane / 4;
        const int column = to->transposed ? lane / 4 : 2 * (lane % 4) + i;
        pair[i] = static_cast<const MatrixLoad*>(all[matrix * 8 + row])->row[column];
      }
      to->result[matrix] = pair[0] | static_cast<std::uint32_t>(pair[1]) << 16;
    }
  }
}

inline void load_matrices(std::uint32_t (&r)[4], std::uint32_t from) {
  MatrixLoad mine{from, false, {}, r};
  emulated::read_shared(from, mine.row, 16);
  emulated::with_warp("ldmatrix", &mine, resolve_matrices);
}
inline void load_matrices_transposed(std::uint32_t (&r)[4], std::uint32_t from) {
  MatrixLoad mine{from, true, {}, r};
  emulated::read_shared(from, mine.row, 16);
  emulated::with_warp("ldmatrix.trans", &mine, resolve_matrices);
}

template <class T>
float widen(std::uint32_t bits);
template <>
inline float widen<__nv_bfloat16>(std::uint32_t bits) {
  return as_float(bits << 16);
}
template <>
inline float widen<__half>(std::uint32_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16, exponent = bits >> 10 & 31U, digits = bits & 0x3ffU;
  if (exponent == 31) return as_float(sign | 0x7f800000U | digits << 13);
  if (exponent == 0) {
    const float small = std::ldexp(static_cast<float>(digits), -24);
    return sign != 0 ? -small : small;
  }
  return as_float(sign | (exponent + 112) << 23 | digits << 13);
}

template <class T>
std::uint32_t narrow(float value);
template <>
inline std::uint32_t narrow<__nv_bfloat16>(float value) {
  const std::uint32_t bits = as_bits(value);
  if (std::isnan(value)) return 0x7fff;
  return (bits + 0x7fffU + (bits >> 16 & 1U)) >> 16;
}
template <>
inline std::uint32_t narrow<__half>(float value) {
  if (std::isnan(value)) return 0x7fff;
  const std::uint32_t sign = as_bits(value) >> 16 & 0x8000U;
  const float size = std::fabs(value);
  if (size >= 65520.0F) return sign | 0x7c00U;
  if (size < 0x1p-14F) return sign | static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, 24)));
  const std::uint32_t bits = as_bits(size);
  return sign | (((bits + 0xfffU + (bits >> 13 & 1U)) >> 13) - (112U << 10));
}
template <class T>
std::uint32_t pack(float low, float high) {
  return narrow<T>(low) | narrow<T>(high) << 16;
}

// mma: the fragments are put together to whole matrices, multiplied, and handed out again.
struct Product {
  float* c;
  const std::uint32_t* a;
  std::uint32_t b[2];
};

template <class T>
void resolve_product(void* const* all) {
  float a[16][16], b[16][8];
  const auto half = [](std::uint32_t word, int i) { return widen<T>(i == 0 ? word & 0xffffU : word >> 16); };
  for (int lane = 0; lane < emulated::kLanes; ++lane) {
    const auto* one = static_cast<const Product*>(all[lane]);
    const int group = lane / 4, pair = 2 * (lane % 4);
    for (int i = 0; i < 2; ++i) {
      a[group][pair + i] = half(one->a[0], i);
      a[group + 8][pair + i] = half(one->a[1], i);
      a[group][pair + 8 + i] = half(one->a[2], i);
      a[group + 8][pair + 8 + i] = half(one->a[3], i);
      b[pair + i][group] = half(one->b[0], i);
      b[pair + 8 + i][group] = half(one->b[1], i);
    }
  }
  for (int lane = 0; lane < emulated::kLanes; ++lane) {
    auto* one = static_cast<Product*>(all[lane]);
    for (int i = 0; i < 4; ++i) {
      const int row = lane / 4 + i / 2 * 8, column = 2 * (lane % 4) + i % 2;
      float sum = 0;
      for (int k = 0; k < 16; ++k) sum += a[row][k] * b[k][column];
      one->c[i] += sum;
    }
  }
  ++emulated::counters().products;
}

template <class T>
void multiply_add(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  Product mine{c, a, {b0, b1}};
  emulated::with_warp("mma", &mine, resolve_product<T>);
}

inline float exp2_fast(float x) { return std::exp2(x); }
inline float fused(float a, float b, float c) { return std::fma(a, b, c); }
inline float difference(float a, float b) { return a - b; }
inline float larger(float a, float b) { return std::fmax(a, b); }
inline float natural_log(float x) { return std::log(x); }
inline float hyperbolic_tangent(float x) { return std::tanh(x); }

template <class T>
T load(const T* from) {
  return emulated::check_memory(from, sizeof(T), "a read") ? *from : T{};
}
template <class T>
void store(T* to, T value) {
  if (emulated::check_memory(to, sizeof(T), "a write")) *to = value;
}
inline Quad load16(const void* from) {
  Quad q{};
  if (emulated::check_memory(from, 16, "a read")) std::memcpy(&q, from, 16);
  return q;
}
inline void store16(void* to, const Quad& q) {
  if (emulated::check_memory(to, 16, "a write")) std::memcpy(to, &q, 16);
}
inline void add_to(float* to, float value) {
  if (emulated::check_memory(to, sizeof(float), "an addition")) *to += value;
}

template <class Parameter>
int launch(void (*kernel)(Parameter), unsigned blocks, int threads, std::size_t shared_bytes, void*,
           const Parameter& parameter) {
  ++emulated::counters().launches;
  for (unsigned i = 0; i < blocks; ++i)
    emulated::run_block(i, threads, shared_bytes, [&] { kernel(parameter); });
  return 0;
}

}  // namespace flash_ref::device
