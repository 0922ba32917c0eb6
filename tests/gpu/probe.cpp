// Ends with 0 where flash_ref's kernels can run, else with 77 and the reason.
#include <cuda_runtime_api.h>

#include <cstdio>

int main() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0) {
    std::printf("skipped: no CUDA device: %s\n",
                error != cudaSuccess ? cudaGetErrorString(error) : "none found");
    return 77;
  }
  cudaDeviceProp properties;
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess || properties.major < 8) {
    std::printf("skipped: CUDA device 0 has compute capability %d.%d; the kernels need 8.0\n",
                properties.major, properties.minor);
    return 77;
  }
  std::printf("%s, compute capability %d.%d, %d multiprocessors\n", properties.name, properties.major,
              properties.minor, properties.multiProcessorCount);
  return 0;
}
