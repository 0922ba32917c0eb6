// Included before a CUDA source where no toolkit is installed: what the language itself needs, and what nvcc
// includes before every source. Types and functions of the toolkit's other headers are here as far as
// attention code uses them; they are declarations, for nothing is run.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define __CUDACC__
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __grid_constant__
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __restrict__ __restrict

#include <__clang_cuda_math_forward_declares.h>
#include <assert.h>
#include <float.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmath>

#include "cuda_runtime_api.h"
#include "device_functions.h"
#include "vector_functions.h"
#include "vector_types.h"

extern const __device__ uint3 threadIdx, blockIdx;
extern const __device__ dim3 blockDim, gridDim;
extern const __device__ int warpSize;
