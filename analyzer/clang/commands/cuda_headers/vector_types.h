// Stands in for the toolkit's header: short vectors of numbers, and the grid's dimensions.
#pragma once
#define DTYPE_LINT_VECTORS(name, type) \
  struct name##1 {                     \
    type x;                            \
  };                                   \
  struct name##2 {                     \
    type x, y;                         \
  };                                   \
  struct name##3 {                     \
    type x, y, z;                      \
  };                                   \
  struct name##4 {                     \
    type x, y, z, w;                   \
  };
DTYPE_LINT_VECTORS(char, signed char)
DTYPE_LINT_VECTORS(uchar, unsigned char)
DTYPE_LINT_VECTORS(short, short)
DTYPE_LINT_VECTORS(ushort, unsigned short)
DTYPE_LINT_VECTORS(int, int)
DTYPE_LINT_VECTORS(uint, unsigned)
DTYPE_LINT_VECTORS(long, long)
DTYPE_LINT_VECTORS(ulong, unsigned long)
DTYPE_LINT_VECTORS(longlong, long long)
DTYPE_LINT_VECTORS(ulonglong, unsigned long long)
DTYPE_LINT_VECTORS(float, float)
DTYPE_LINT_VECTORS(double, double)
#undef DTYPE_LINT_VECTORS
struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return {x, y, z}; }
};
