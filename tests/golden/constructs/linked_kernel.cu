// Kernels of linked_call.cu, which knows no more than their names.
#include "descriptors.h"

__global__ void widen(const __half* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x];  // expect: attention-implicit-promotion
}
__global__ void scale(const __half* in, __half* out) {
  out[threadIdx.x] = __float2half(__half2float(in[threadIdx.x]) * 2.0f);
}

template <class In, class Out>
__global__ void convert(const In* in, Out* out) {
  out[threadIdx.x] = static_cast<Out>(in[threadIdx.x]);  // expect: attention-mixed-dtypes
}
template <class In, class Out>
void launch_convert(const In* in, Out* out, int n) {
  convert<<<1, n>>>(in, out);
}
template void launch_convert(const __half*, float*, int);
template void launch_convert(const __half*, __half*, int);
