// Memory that the host and a GPU both see: what the tensors of the accuracy suite lie in when it runs on a
// GPU. Pinned memory of the host, so that no page moves; blocks are kept for the next tensor of that size.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

namespace flash_ref_test {

inline void check_cuda(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s (%s)\n", what, cudaGetErrorString(error), cudaGetErrorName(error));
  std::exit(3);
}

// Whether a call may have been given a tensor since the device was last waited for. Elements are read one by
// one, and to wait takes microseconds also when there is nothing to wait for.
inline bool device_may_run = true;

inline void wait_for_device() {
  if (!device_may_run) return;
  check_cuda(cudaDeviceSynchronize(), "a kernel failed");
  device_may_run = false;
}
inline void device_gets_tensor() { device_may_run = true; }

template <class T>
struct SharedAllocator {
  using value_type = T;
  SharedAllocator() = default;
  template <class U>
  explicit SharedAllocator(const SharedAllocator<U>&) {}

  T* allocate(std::size_t count) {
    std::vector<void*>& kept = blocks()[count * sizeof(T)];
    void* memory = nullptr;
    if (kept.empty()) {
      check_cuda(cudaHostAlloc(&memory, count * sizeof(T), cudaHostAllocDefault), "no pinned memory");
    } else {
      memory = kept.back();
      kept.pop_back();
    }
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) { blocks()[count * sizeof(T)].push_back(memory); }
  bool operator==(const SharedAllocator&) const { return true; }

 private:
  static std::map<std::size_t, std::vector<void*>>& blocks() {
    static auto* all = new std::map<std::size_t, std::vector<void*>>;  // used by what is destroyed last, too
    return *all;
  }
};

}  // namespace flash_ref_test
