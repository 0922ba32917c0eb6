// Stands in for libc10_cuda: it announces blocks of a device as PyTorch's caching allocator does, through a
// call that the dynamic linker binds.
#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(default)
namespace c10 {
struct Device {
  std::int8_t type, index;
};
void reportMemoryUsageToProfiler(void* block, std::int64_t bytes, std::size_t allocated, std::size_t reserved,
                                 Device device);
void reportMemoryUsageToProfiler(void* block, std::int64_t bytes, std::int64_t allocated,
                                 std::int64_t reserved, Device device);
namespace cuda {
std::int8_t device_count() noexcept;
std::int8_t device_count() noexcept { return 1; }
}  // namespace cuda
}  // namespace c10

extern "C" void fake_c10_cuda_report(void* block, std::int64_t bytes, int is_of_1_13);
extern "C" void fake_c10_cuda_report(void* block, std::int64_t bytes, int is_of_1_13) {
  const c10::Device device{1, 0};
  if (is_of_1_13 != 0)
    c10::reportMemoryUsageToProfiler(block, bytes, std::int64_t{0}, std::int64_t{0}, device);
  else
    c10::reportMemoryUsageToProfiler(block, bytes, std::size_t{0}, std::size_t{0}, device);
}
#pragma GCC visibility pop
