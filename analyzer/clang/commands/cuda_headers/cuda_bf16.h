// Stands in for the toolkit's header: the types, their conversions and their arithmetic.
#pragma once
#include "dtype_lint_half.h"

#pragma clang force_cuda_host_device begin
DTYPE_LINT_HALF_TYPES(__nv_bfloat16, __nv_bfloat162, __nv_bfloat16_raw, __nv_bfloat162_raw)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
#if !defined(__CUDA_NO_BFLOAT16_OPERATORS__)
DTYPE_LINT_ARITHMETIC(__nv_bfloat16)
#endif
#if !defined(__CUDA_NO_BFLOAT162_OPERATORS__)
DTYPE_LINT_ARITHMETIC(__nv_bfloat162)
#endif
DTYPE_LINT_HALF_FUNCTIONS(__nv_bfloat16, __nv_bfloat162)

float __bfloat162float(__nv_bfloat16);
__nv_bfloat16 __float2bfloat16(float);
__nv_bfloat16 __float2bfloat16_rn(float);
__nv_bfloat16 __float2bfloat16_rz(float);
__nv_bfloat16 __float2bfloat16_rd(float);
__nv_bfloat16 __float2bfloat16_ru(float);
__nv_bfloat16 __double2bfloat16(double);
float2 __bfloat1622float2(__nv_bfloat162);
__nv_bfloat162 __float22bfloat162_rn(float2);
__nv_bfloat162 __floats2bfloat162_rn(float, float);
__nv_bfloat162 __float2bfloat162_rn(float);
__nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16);
__nv_bfloat162 __halves2bfloat162(__nv_bfloat16, __nv_bfloat16);
__nv_bfloat162 __lows2bfloat162(__nv_bfloat162, __nv_bfloat162);
__nv_bfloat162 __highs2bfloat162(__nv_bfloat162, __nv_bfloat162);
__nv_bfloat162 __low2bfloat162(__nv_bfloat162);
__nv_bfloat162 __high2bfloat162(__nv_bfloat162);
__nv_bfloat16 __low2bfloat16(__nv_bfloat162);
__nv_bfloat16 __high2bfloat16(__nv_bfloat162);
__nv_bfloat162 make_bfloat162(__nv_bfloat16, __nv_bfloat16);
int __bfloat162int_rn(__nv_bfloat16);
int __bfloat162int_rz(__nv_bfloat16);
__nv_bfloat16 __int2bfloat16_rn(int);
__nv_bfloat16 __uint2bfloat16_rn(unsigned);
short __bfloat16_as_short(__nv_bfloat16);
unsigned short __bfloat16_as_ushort(__nv_bfloat16);
__nv_bfloat16 __short_as_bfloat16(short);
__nv_bfloat16 __ushort_as_bfloat16(unsigned short);
#pragma clang force_cuda_host_device end
