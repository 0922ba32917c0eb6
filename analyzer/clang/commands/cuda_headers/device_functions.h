// Stands in for the toolkit's headers: what device code calls without including anything.
#pragma once
#include <vector_types.h>

extern "C" __device__ void __syncthreads();
__device__ int printf(const char*, ...);

// The host's functions of these names are the host's alone.
#define DTYPE_LINT_OF_ONE(name) __device__ float name(float);
#define DTYPE_LINT_OF_TWO(name) __device__ float name(float, float);
DTYPE_LINT_OF_ONE(acosf)
DTYPE_LINT_OF_ONE(acoshf)
DTYPE_LINT_OF_ONE(asinf)
DTYPE_LINT_OF_ONE(asinhf)
DTYPE_LINT_OF_ONE(atanf)
DTYPE_LINT_OF_ONE(atanhf)
DTYPE_LINT_OF_ONE(cbrtf)
DTYPE_LINT_OF_ONE(ceilf)
DTYPE_LINT_OF_ONE(cosf)
DTYPE_LINT_OF_ONE(coshf)
DTYPE_LINT_OF_ONE(cospif)
DTYPE_LINT_OF_ONE(erfcf)
DTYPE_LINT_OF_ONE(erff)
DTYPE_LINT_OF_ONE(erfinvf)
DTYPE_LINT_OF_ONE(exp10f)
DTYPE_LINT_OF_ONE(exp2f)
DTYPE_LINT_OF_ONE(expf)
DTYPE_LINT_OF_ONE(expm1f)
DTYPE_LINT_OF_ONE(fabsf)
DTYPE_LINT_OF_ONE(floorf)
DTYPE_LINT_OF_ONE(lgammaf)
DTYPE_LINT_OF_ONE(log10f)
DTYPE_LINT_OF_ONE(log1pf)
DTYPE_LINT_OF_ONE(log2f)
DTYPE_LINT_OF_ONE(logbf)
DTYPE_LINT_OF_ONE(logf)
DTYPE_LINT_OF_ONE(nearbyintf)
DTYPE_LINT_OF_ONE(normcdff)
DTYPE_LINT_OF_ONE(normcdfinvf)
DTYPE_LINT_OF_ONE(rcbrtf)
DTYPE_LINT_OF_ONE(rintf)
DTYPE_LINT_OF_ONE(roundf)
DTYPE_LINT_OF_ONE(rsqrtf)
DTYPE_LINT_OF_ONE(sinf)
DTYPE_LINT_OF_ONE(sinhf)
DTYPE_LINT_OF_ONE(sinpif)
DTYPE_LINT_OF_ONE(sqrtf)
DTYPE_LINT_OF_ONE(tanf)
DTYPE_LINT_OF_ONE(tanhf)
DTYPE_LINT_OF_ONE(tgammaf)
DTYPE_LINT_OF_ONE(truncf)
DTYPE_LINT_OF_ONE(__expf)
DTYPE_LINT_OF_ONE(__exp10f)
DTYPE_LINT_OF_ONE(__logf)
DTYPE_LINT_OF_ONE(__log2f)
DTYPE_LINT_OF_ONE(__log10f)
DTYPE_LINT_OF_ONE(__sinf)
DTYPE_LINT_OF_ONE(__cosf)
DTYPE_LINT_OF_ONE(__tanf)
DTYPE_LINT_OF_ONE(__tanhf)
DTYPE_LINT_OF_TWO(atan2f)
DTYPE_LINT_OF_TWO(copysignf)
DTYPE_LINT_OF_TWO(fdimf)
DTYPE_LINT_OF_TWO(fmaxf)
DTYPE_LINT_OF_TWO(fminf)
DTYPE_LINT_OF_TWO(fmodf)
DTYPE_LINT_OF_TWO(hypotf)
DTYPE_LINT_OF_TWO(nextafterf)
DTYPE_LINT_OF_TWO(powf)
DTYPE_LINT_OF_TWO(remainderf)
DTYPE_LINT_OF_TWO(__powf)
#undef DTYPE_LINT_OF_ONE
#undef DTYPE_LINT_OF_TWO
__device__ float fmaf(float, float, float);
__device__ float ldexpf(float, int);
__device__ double rsqrt(double);
__device__ void sincosf(float, float*, float*);
__device__ void sincospif(float, float*, float*);
__device__ void __sincosf(float, float*, float*);

#pragma clang force_cuda_host_device begin
extern "C" {
int __syncthreads_or(int);
int __syncthreads_and(int);
int __syncthreads_count(int);
void __syncwarp(unsigned = 0xffffffff);
void __threadfence();
void __threadfence_block();
void __threadfence_system();
void __nanosleep(unsigned);
void __trap();
void __brkpt();
unsigned __activemask();
unsigned __ballot_sync(unsigned, int);
int __any_sync(unsigned, int);
int __all_sync(unsigned, int);
int __popc(unsigned);
int __popcll(unsigned long long);
int __clz(int);
int __clzll(long long);
int __ffs(int);
int __ffsll(long long);
unsigned __brev(unsigned);
unsigned __byte_perm(unsigned, unsigned, unsigned);
unsigned __funnelshift_l(unsigned, unsigned, unsigned);
unsigned __funnelshift_r(unsigned, unsigned, unsigned);
int __mulhi(int, int);
unsigned __umulhi(unsigned, unsigned);
unsigned long long __umul64hi(unsigned long long, unsigned long long);
unsigned __float_as_uint(float);
int __float_as_int(float);
float __uint_as_float(unsigned);
float __int_as_float(int);
long long __double_as_longlong(double);
double __longlong_as_double(long long);
int __float2int_rn(float);
int __float2int_rz(float);
int __float2int_rd(float);
int __float2int_ru(float);
unsigned __float2uint_rn(float);
float __int2float_rn(int);
float __uint2float_rn(unsigned);
float __double2float_rn(double);
float __saturatef(float);
float __fdividef(float, float);
float __fadd_rn(float, float);
float __fsub_rn(float, float);
float __fmul_rn(float, float);
float __fdiv_rn(float, float);
float __fsqrt_rn(float);
float __frsqrt_rn(float);
float __frcp_rn(float);
float __fmaf_rn(float, float, float);
size_t __cvta_generic_to_shared(const void*);
void* __cvta_shared_to_generic(size_t);
size_t __cvta_generic_to_global(const void*);
unsigned __isShared(const void*);
unsigned __isGlobal(const void*);
long long clock64();
}
// In the toolkit an overload for each type of number.
template <class T>
T __shfl_sync(unsigned, T, int, int = 32);
template <class T>
T __shfl_up_sync(unsigned, T, unsigned, int = 32);
template <class T>
T __shfl_down_sync(unsigned, T, unsigned, int = 32);
template <class T>
T __shfl_xor_sync(unsigned, T, int, int = 32);
template <class T>
unsigned __match_any_sync(unsigned, T);
template <class T>
T __reduce_max_sync(unsigned, T);
template <class T>
T __reduce_add_sync(unsigned, T);
template <class T>
T __ldg(const T*);
template <class T>
T __ldca(const T*);
template <class T>
T __ldcg(const T*);
template <class T>
T __ldcs(const T*);
template <class T>
T __ldcv(const T*);
template <class T>
T __ldlu(const T*);
template <class T, class U>
void __stcg(T*, U);
template <class T, class U>
void __stcs(T*, U);
template <class T, class U>
void __stwb(T*, U);
template <class T, class U>
void __stwt(T*, U);
template <class T, class U>
T atomicAdd(T*, U);
template <class T, class U>
T atomicSub(T*, U);
template <class T, class U>
T atomicMax(T*, U);
template <class T, class U>
T atomicMin(T*, U);
template <class T, class U>
T atomicExch(T*, U);
template <class T, class U, class V>
T atomicCAS(T*, U, V);
template <class T, class U>
T atomicAnd(T*, U);
template <class T, class U>
T atomicOr(T*, U);
int min(int, int);
unsigned min(unsigned, unsigned);
long long min(long long, long long);
float min(float, float);
double min(double, double);
int max(int, int);
unsigned max(unsigned, unsigned);
long long max(long long, long long);
float max(float, float);
double max(double, double);
#pragma clang force_cuda_host_device end
