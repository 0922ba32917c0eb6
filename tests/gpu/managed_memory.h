// Memory that the host and a GPU both see: what the tensors of the accuracy suite lie in when it runs on a
// GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace flash_ref_test {

inline void check_cuda(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s (%s)\n", what, cudaGetErrorString(error), cudaGetErrorName(error));
  std::exit(3);
}

inline void wait_for_device() { check_cuda(cudaDeviceSynchronize(), "a kernel failed"); }

template <class T>
struct ManagedAllocator {
  using value_type = T;
  ManagedAllocator() = default;
  template <class U>
  explicit ManagedAllocator(const ManagedAllocator<U>&) {}

  T* allocate(std::size_t count) {
    void* memory = nullptr;
    check_cuda(cudaMallocManaged(&memory, count * sizeof(T)), "no managed memory");
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t) { cudaFree(memory); }
  bool operator==(const ManagedAllocator&) const { return true; }
};

}  // namespace flash_ref_test
