// Typed half code in a CUDA source: the toolkit's own types, device and host code, launches.
#include "descriptors.h"

void bad_half(const __half* h, int n) {
  std::vector<float> f(n);
  for (int i = 0; i < n; ++i) f[i] = h[i];  // expect: attention-implicit-promotion
  attend(f.data(), h);
}
void bad_bfloat16(const __nv_bfloat16* h, int n) {
  std::vector<float> f(n);
  for (int i = 0; i < n; ++i) f[i] = h[i];  // expect: attention-implicit-promotion
  attend(f.data(), h);
}
void bad_new(const half* h, int n) {
  float* f = new float[n];
  for (int i = 0; i < n; ++i) f[i] = h[i];  // expect: attention-implicit-promotion
  attend(f, h);
  delete[] f;
}
void ok_accumulated(const __half* h, int n) {
  std::vector<__half> out(n);
  float sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += __half2float(h[i]);
    out[i] = __float2half(sum);
  }
  attend(out.data(), h);
}
void ok_bfloat16(const __nv_bfloat16* h, int n) {
  std::vector<__nv_bfloat16> out(n);
  for (int i = 0; i < n; ++i) out[i] = __float2bfloat16(__bfloat162float(h[i]) * 2.0f);
  attend(out.data(), h);
}
void ok_statistics(const __half* h, int n) {
  std::vector<float> sums(n);
  for (int i = 0; i < n; ++i) sums[i] = h[i];
  attend(h, h);
}

// The device writes what the host hands on.
__global__ void widen(const __half* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];  // expect: attention-implicit-promotion
}
__global__ void scale(const __half* in, __half* out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __float2half(__half2float(in[i]) * factor);
}
void bad_launch(const __half* h, int n, cudaStream_t stream) {
  float* f = nullptr;
  cudaMalloc(&f, n * sizeof(float));
  widen<<<(n + 255) / 256, 256, 0, stream>>>(h, f, n);
  attend(f, h);
}
void ok_launch(const __half* h, int n) {
  __half* out = nullptr;
  cudaMalloc((void**)&out, n * sizeof(__half));
  scale<<<(n + 255) / 256, 256>>>(h, out, 2.0f, n);
  attend(out, h);
}
