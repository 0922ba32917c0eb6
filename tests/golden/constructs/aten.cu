// ATen in a CUDA source. Its headers need Thrust, cuSPARSE and more of the toolkit, of which declarations do.
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/Exceptions.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "attention.h"

__global__ void widen(const at::Half* in, float* out, int64_t n) {
  const int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];  // expect: attention-implicit-promotion
}
void bad_launch(const at::Tensor& x) {
  const at::cuda::CUDAGuard guard(x.device());
  const int64_t n = x.numel();
  float* q = nullptr;
  C10_CUDA_CHECK(cudaMalloc(&q, n * sizeof(float)));
  widen<<<1, n, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<at::Half>(), q, n);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  attend(torch::from_blob(q, x.sizes()), x, x);
}
void ok_launch(const at::Tensor& x) {
  attend(x, x, x);
  AT_CUDA_CHECK(cudaGetLastError());
}
