// Stands in for the toolkit's header: the type, its conversions and its arithmetic.
#pragma once
struct __half {
  __half() = default;
  __host__ __device__ __half(float);
  __host__ __device__ __half(double);
  __host__ __device__ __half(int);
  __host__ __device__ operator float() const;
  __host__ __device__ __half& operator=(float);
  unsigned short bits;
};
struct __half2 {
  __half x, y;
};
typedef __half half;
typedef __half2 half2;
__host__ __device__ __half operator+(const __half&, const __half&);
__host__ __device__ __half operator-(const __half&, const __half&);
__host__ __device__ __half operator*(const __half&, const __half&);
__host__ __device__ __half operator/(const __half&, const __half&);
__host__ __device__ float __half2float(__half);
__host__ __device__ __half __float2half(float);
__host__ __device__ __half __float2half_rn(float);
__host__ __device__ float2 __half22float2(__half2);
__host__ __device__ __half2 __floats2half2_rn(float, float);
