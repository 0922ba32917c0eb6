// Stands in for the toolkit's header: the types, their conversions and their arithmetic.
#pragma once
#include "dtype_lint_half.h"

#pragma clang force_cuda_host_device begin
DTYPE_LINT_HALF_TYPES(__half, __half2, __half_raw, __half2_raw)
typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
#if !defined(__CUDA_NO_HALF_OPERATORS__)
DTYPE_LINT_ARITHMETIC(__half)
#endif
#if !defined(__CUDA_NO_HALF2_OPERATORS__)
DTYPE_LINT_ARITHMETIC(__half2)
#endif
DTYPE_LINT_HALF_FUNCTIONS(__half, __half2)

float __half2float(__half);
__half __float2half(float);
__half __float2half_rn(float);
__half __float2half_rz(float);
__half __float2half_rd(float);
__half __float2half_ru(float);
__half __double2half(double);
float2 __half22float2(__half2);
__half2 __float22half2_rn(float2);
__half2 __floats2half2_rn(float, float);
__half2 __float2half2_rn(float);
__half2 __half2half2(__half);
__half2 __halves2half2(__half, __half);
__half2 __lows2half2(__half2, __half2);
__half2 __highs2half2(__half2, __half2);
__half2 __low2half2(__half2);
__half2 __high2half2(__half2);
__half __low2half(__half2);
__half __high2half(__half2);
__half2 make_half2(__half, __half);
int __half2int_rn(__half);
int __half2int_rz(__half);
int __half2int_rd(__half);
__half __int2half_rn(int);
__half __uint2half_rn(unsigned);
__half __short2half_rn(short);
short __half_as_short(__half);
unsigned short __half_as_ushort(__half);
__half __short_as_half(short);
__half __ushort_as_half(unsigned short);
#pragma clang force_cuda_host_device end
