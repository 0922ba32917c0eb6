// Kernels that stand in linked_kernel.cu: what they widen is found there.
#include "descriptors.h"

__global__ void widen(const __half* in, float* out);
__global__ void scale(const __half* in, __half* out);
template <class In, class Out>
void launch_convert(const In* in, Out* out, int n);
extern template void launch_convert(const __half*, float*, int);
extern template void launch_convert(const __half*, __half*, int);

void bad_launch(const __half* h, int n) {
  float* q = nullptr;
  cudaMalloc(&q, n * sizeof(float));
  widen<<<1, n>>>(h, q);
  attend(q, h);
}
void bad_template(const __half* h, float* q, int n) {
  launch_convert(h, q, n);
  attend(q, h);
}
void ok_launch(const __half* h, __half* q, int n) {
  scale<<<1, n>>>(h, q);
  launch_convert(h, q, n);
  attend(q, h);
}
