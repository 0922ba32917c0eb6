// Stands in for the toolkit's header: the generators that ATen's headers name.
#pragma once
#include <cuda_runtime_api.h>
#include <library_types.h>

typedef struct curandStatePhilox4_32_10 {
  unsigned state[16];
} curandStatePhilox4_32_10_t;
typedef struct curandStateXORWOW {
  unsigned state[12];
} curandState_t, curandState;
#pragma clang force_cuda_host_device begin
template <class State>
void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                 State* state);
template <class State>
unsigned curand(State* state);
template <class State>
uint4 curand4(State* state);
template <class State>
float curand_uniform(State* state);
template <class State>
float4 curand_uniform4(State* state);
template <class State>
double2 curand_uniform2_double(State* state);
template <class State>
float curand_normal(State* state);
template <class State>
float4 curand_normal4(State* state);
template <class State>
double2 curand_normal2_double(State* state);
#pragma clang force_cuda_host_device end
