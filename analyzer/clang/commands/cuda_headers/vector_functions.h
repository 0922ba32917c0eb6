// Stands in for the toolkit's header: what makes short vectors.
#pragma once
#include <vector_types.h>
#define DTYPE_LINT_MAKERS(name, type)                           \
  __host__ __device__ name##1 make_##name##1(type);             \
  __host__ __device__ name##2 make_##name##2(type, type);       \
  __host__ __device__ name##3 make_##name##3(type, type, type); \
  __host__ __device__ name##4 make_##name##4(type, type, type, type);
DTYPE_LINT_MAKERS(char, signed char)
DTYPE_LINT_MAKERS(uchar, unsigned char)
DTYPE_LINT_MAKERS(short, short)
DTYPE_LINT_MAKERS(ushort, unsigned short)
DTYPE_LINT_MAKERS(int, int)
DTYPE_LINT_MAKERS(uint, unsigned)
DTYPE_LINT_MAKERS(long, long)
DTYPE_LINT_MAKERS(ulong, unsigned long)
DTYPE_LINT_MAKERS(longlong, long long)
DTYPE_LINT_MAKERS(ulonglong, unsigned long long)
DTYPE_LINT_MAKERS(float, float)
DTYPE_LINT_MAKERS(double, double)
#undef DTYPE_LINT_MAKERS
