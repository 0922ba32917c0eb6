// What attention code calls of the runtime and of the toolkit's libraries: it parses with a toolkit, and with
// stand-ins for its headers.
#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda_fp8.h>

#include <cub/cub.cuh>
#include <cuda/std/limits>

#include "descriptors.h"

namespace cg = cooperative_groups;

__global__ void normalise(const __half* in, float* out, int n) {
  using Reduce = cub::BlockReduce<float, 128>;
  __shared__ typename Reduce::TempStorage storage;
  float sum = 0.0f, largest = -cuda::std::numeric_limits<float>::infinity();
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    const float value = __half2float(in[i]);  // expect: attention-mixed-dtypes
    largest = fmaxf(largest, value);
    sum += __expf(value) * rsqrtf(1.0f);
    out[i] = value;
  }
  sum = Reduce(storage).Sum(sum);
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  sum += tile.shfl_xor(sum, 1) + __shfl_down_sync(0xffffffffu, largest, 1);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(out, sum);
}
__global__ void in_half(const __half2* in, __half2* out) {
  const __half2 scale = __float2half2_rn(0.5f);
  out[threadIdx.x] = __hfma2(in[threadIdx.x], scale, __hmax2(in[threadIdx.x], __halves2half2(0.0f, 0.0f)));
}

static int check(cudaError_t error) {
  return error == cudaSuccess ? 0 : static_cast<int>(strlen(cudaGetErrorString(error)));
}
void bad_stream(const __half* h, int n) {
  cudaStream_t stream;
  cudaEvent_t done;
  int device = 0, processors = 0, blocks = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  check(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
  check(cudaFuncSetAttribute(normalise, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, normalise, 128, 0));
  float* q = nullptr;
  check(cudaMallocAsync(&q, n * sizeof(float), stream));
  check(cudaMemsetAsync(q, 0, n * sizeof(float), stream));
  normalise<<<dim3(processors * blocks), 128, 0, stream>>>(h, q, n);
  check(cudaEventRecord(done, stream));
  check(cudaStreamWaitEvent(stream, done, 0));
  attend(q, h);
  check(cudaFreeAsync(q, stream));
  check(cudaStreamSynchronize(stream));
}
void ok_stream(const __half* h, int n, cudaStream_t stream) {
  void* memory = nullptr;
  check(cudaMallocAsync(&memory, n * sizeof(__half), stream));
  auto* q = static_cast<__half*>(memory);
  in_half<<<1, n / 2, 0, stream>>>(reinterpret_cast<const __half2*>(h), reinterpret_cast<__half2*>(q));
  attend(q, h);
}
