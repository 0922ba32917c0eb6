// Stands in for the toolkit's header: the type, its conversions and its arithmetic.
#pragma once
struct __nv_bfloat16 {
  __nv_bfloat16() = default;
  __host__ __device__ __nv_bfloat16(float);
  __host__ __device__ __nv_bfloat16(double);
  __host__ __device__ __nv_bfloat16(int);
  __host__ __device__ operator float() const;
  __host__ __device__ __nv_bfloat16& operator=(float);
  unsigned short bits;
};
struct __nv_bfloat162 {
  __nv_bfloat16 x, y;
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
__host__ __device__ __nv_bfloat16 operator+(const __nv_bfloat16&, const __nv_bfloat16&);
__host__ __device__ __nv_bfloat16 operator-(const __nv_bfloat16&, const __nv_bfloat16&);
__host__ __device__ __nv_bfloat16 operator*(const __nv_bfloat16&, const __nv_bfloat16&);
__host__ __device__ __nv_bfloat16 operator/(const __nv_bfloat16&, const __nv_bfloat16&);
__host__ __device__ float __bfloat162float(__nv_bfloat16);
__host__ __device__ __nv_bfloat16 __float2bfloat16(float);
__host__ __device__ __nv_bfloat16 __float2bfloat16_rn(float);
__host__ __device__ float2 __bfloat1622float2(__nv_bfloat162);
__host__ __device__ __nv_bfloat162 __floats2bfloat162_rn(float, float);
