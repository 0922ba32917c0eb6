// Stands in for the toolkit's header: the eight-bit types and their conversions.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

#pragma clang force_cuda_host_device begin
#define DTYPE_LINT_EIGHT_BITS(name, pair, four) \
  struct name {                                 \
    name() = default;                           \
    explicit name(float);                       \
    explicit name(double);                      \
    explicit name(__half);                      \
    explicit name(__nv_bfloat16);               \
    explicit operator float() const;            \
    explicit operator __half() const;           \
    explicit operator __nv_bfloat16() const;    \
    __nv_fp8_storage_t __x;                     \
  };                                            \
  struct pair {                                 \
    pair() = default;                           \
    explicit pair(float2);                      \
    explicit pair(__half2);                     \
    explicit pair(__nv_bfloat162);              \
    explicit operator float2() const;           \
    explicit operator __half2() const;          \
    __nv_fp8x2_storage_t __x;                   \
  };                                            \
  struct four {                                 \
    four() = default;                           \
    explicit four(float4);                      \
    explicit operator float4() const;           \
    __nv_fp8x4_storage_t __x;                   \
  };
DTYPE_LINT_EIGHT_BITS(__nv_fp8_e4m3, __nv_fp8x2_e4m3, __nv_fp8x4_e4m3)
DTYPE_LINT_EIGHT_BITS(__nv_fp8_e5m2, __nv_fp8x2_e5m2, __nv_fp8x4_e5m2)
#undef DTYPE_LINT_EIGHT_BITS

__nv_fp8_storage_t __nv_cvt_float_to_fp8(float, __nv_saturation_t, __nv_fp8_interpretation_t);
__nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2, __nv_saturation_t, __nv_fp8_interpretation_t);
__half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t, __nv_fp8_interpretation_t);
__half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t, __nv_fp8_interpretation_t);
#pragma clang force_cuda_host_device end
