// Everything that the kernels take from the GPU beyond plain arithmetic: the instructions that C++ has no
// name for, memory, and how a kernel is declared and launched. tests/emulated/device/primitives.h has the
// same functions for the host, so that the same kernels run there; kernels include "device/primitives.h" and
// the include path decides. Addresses in shared memory are plain numbers of bytes.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/cuda/element.h"

#define FLASH_REF_DEVICE __device__ __forceinline__
// Goes in front of the name of a kernel: threads of a block, and blocks that should fit on a multiprocessor.
#define FLASH_REF_KERNEL(threads, blocks) __global__ void __launch_bounds__(threads, blocks)
#define FLASH_REF_PARAMETER const __grid_constant__

namespace flash_ref::device {

constexpr bool kEmulated = false;

struct Quad {
  std::uint32_t x[4];
};

// Said so that the compiler knows it to be no negative number, whose remainders would cost more.
FLASH_REF_DEVICE int thread() { return static_cast<int>(threadIdx.x & 1023U); }
FLASH_REF_DEVICE unsigned block() { return blockIdx.x; }

FLASH_REF_DEVICE std::uint32_t shared_memory() {
  extern __shared__ __align__(128) unsigned char dynamic[];
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(dynamic));
}

// Barriers of the block and of the warp: what was written before is seen after.
FLASH_REF_DEVICE void barrier() { __syncthreads(); }
FLASH_REF_DEVICE bool barrier_any(bool mine) { return __syncthreads_or(mine ? 1 : 0) != 0; }
FLASH_REF_DEVICE void warp_barrier() { __syncwarp(); }

FLASH_REF_DEVICE float shuffle_xor(float value, int mask) { return __shfl_xor_sync(~0U, value, mask); }
FLASH_REF_DEVICE std::uint32_t shuffle(std::uint32_t value, int lane) {
  return __shfl_sync(~0U, value, lane);
}

// Copies 16 bytes, or stores zeros where there is nothing to copy. They arrive at any time until
// wait_copies<n>() returns, which leaves the latest n committed groups of this thread under way.
FLASH_REF_DEVICE void copy_async(std::uint32_t to, const void* from, bool present) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(__cvta_generic_to_global(from)),
               "r"(present ? 16 : 0)
               : "memory");
}
FLASH_REF_DEVICE void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kLeft>
FLASH_REF_DEVICE void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

FLASH_REF_DEVICE Quad load_shared16(std::uint32_t from) {
  Quad q;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(q.x[0]), "=r"(q.x[1]), "=r"(q.x[2]), "=r"(q.x[3])
               : "r"(from)
               : "memory");
  return q;
}
FLASH_REF_DEVICE void store_shared16(std::uint32_t to, const Quad& q) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(q.x[0]), "r"(q.x[1]), "r"(q.x[2]),
               "r"(q.x[3])
               : "memory");
}
FLASH_REF_DEVICE std::uint32_t load_shared4(std::uint32_t from) {
  std::uint32_t x;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(from) : "memory");
  return x;
}
FLASH_REF_DEVICE void store_shared4(std::uint32_t to, std::uint32_t x) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(to), "r"(x) : "memory");
}

// Four 8 x 8 matrices of 16-bit numbers; lane i gives the address of row i % 8 of matrix i / 8. Lane i gets
// of each the numbers 2 (i % 4) and the next in row i / 4; transposed: in column i / 4.
FLASH_REF_DEVICE void load_matrices(std::uint32_t (&r)[4], std::uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(from)
               : "memory");
}
FLASH_REF_DEVICE void load_matrices_transposed(std::uint32_t (&r)[4], std::uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(from)
               : "memory");
}

// c += a b, a being 16 x 16, b 16 x 8; lane i has rows i / 4 and i / 4 + 8 of c, columns 2 (i % 4) and the
// next.
template <class T>
FLASH_REF_DEVICE void multiply_add(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                   std::uint32_t b1);
template <>
FLASH_REF_DEVICE void multiply_add<__half>(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                           std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
template <>
FLASH_REF_DEVICE void multiply_add<__nv_bfloat16>(float (&c)[4], const std::uint32_t (&a)[4],
                                                  std::uint32_t b0, std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Two numbers in one word, the first in its low half; conversions round to nearest even.
template <class T>
FLASH_REF_DEVICE std::uint32_t pack(float low, float high);
template <>
FLASH_REF_DEVICE std::uint32_t pack<__half>(float low, float high) {
  std::uint32_t x;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(x) : "f"(high), "f"(low));
  return x;
}
template <>
FLASH_REF_DEVICE std::uint32_t pack<__nv_bfloat16>(float low, float high) {
  std::uint32_t x;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(x) : "f"(high), "f"(low));
  return x;
}
template <class T>
FLASH_REF_DEVICE float widen(std::uint32_t bits);  // the low half
template <>
FLASH_REF_DEVICE float widen<__half>(std::uint32_t bits) {
  float x;
  asm("{.reg .b16 low, high;\n mov.b32 {low, high}, %1;\n cvt.f32.f16 %0, low;}" : "=f"(x) : "r"(bits));
  return x;
}
template <>
FLASH_REF_DEVICE float widen<__nv_bfloat16>(std::uint32_t bits) {
  return __uint_as_float(bits << 16);
}

FLASH_REF_DEVICE float as_float(std::uint32_t bits) { return __uint_as_float(bits); }
FLASH_REF_DEVICE std::uint32_t as_bits(float value) { return __float_as_uint(value); }
FLASH_REF_DEVICE float exp2_fast(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
FLASH_REF_DEVICE float fused(float a, float b, float c) { return fmaf(a, b, c); }
// a - b where a is the rounded number that it is elsewhere, not a product that this is fused with.
FLASH_REF_DEVICE float difference(float a, float b) { return __fsub_rn(a, b); }
FLASH_REF_DEVICE float larger(float a, float b) { return fmaxf(a, b); }  // a number wins over a NaN
FLASH_REF_DEVICE float natural_log(float x) { return logf(x); }
FLASH_REF_DEVICE float hyperbolic_tangent(float x) { return tanhf(x); }

template <class T>
FLASH_REF_DEVICE T load(const T* from) {
  return *from;
}
template <class T>
FLASH_REF_DEVICE void store(T* to, T value) {
  *to = value;
}
FLASH_REF_DEVICE Quad load16(const void* from) {
  const uint4 x = *static_cast<const uint4*>(from);
  return {{x.x, x.y, x.z, x.w}};
}
FLASH_REF_DEVICE void store16(void* to, const Quad& q) {
  *static_cast<uint4*>(to) = make_uint4(q.x[0], q.x[1], q.x[2], q.x[3]);
}
FLASH_REF_DEVICE void add_to(float* to, float value) { atomicAdd(to, value); }

// Returns a cudaError_t, as a number.
template <class Parameter>
inline int launch(void (*kernel)(Parameter), unsigned blocks, int threads, std::size_t shared_bytes,
                  void* stream, const Parameter& parameter) {
  const auto function = reinterpret_cast<const void*>(kernel);
  const cudaError_t allowed = cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                   static_cast<int>(shared_bytes));
  if (allowed != cudaSuccess) return static_cast<int>(allowed);
  void* parameters[] = {const_cast<Parameter*>(&parameter)};
  return static_cast<int>(cudaLaunchKernel(function, dim3(blocks), dim3(static_cast<unsigned>(threads)),
                                           parameters, shared_bytes, static_cast<cudaStream_t>(stream)));
}

}  // namespace flash_ref::device
