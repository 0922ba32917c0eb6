// Stands in for libc10: its allocator of the CPU announces its blocks to functions of the same library, those
// of devices to another one, in both signatures that releases have had. Counts what comes by, which must be
// all, with dtype-san in between or not. All blocks are as large.
#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(default)
namespace c10 {
struct Device {
  std::int8_t type, index;
};
namespace {
std::int64_t blocks = 0, bytes_in_use = 0;

void count(std::int64_t bytes) {
  blocks += bytes > 0 ? 1 : -1;
  bytes_in_use += bytes;
}
}  // namespace

void reportMemoryUsageToProfiler(void* block, std::int64_t bytes, std::size_t allocated, std::size_t reserved,
                                 Device device);
void reportMemoryUsageToProfiler(void*, std::int64_t bytes, std::size_t, std::size_t, Device) {
  count(bytes);
}
void reportMemoryUsageToProfiler(void* block, std::int64_t bytes, std::int64_t allocated,
                                 std::int64_t reserved, Device device);
void reportMemoryUsageToProfiler(void*, std::int64_t bytes, std::int64_t, std::int64_t, Device) {
  count(bytes);
}
// Called through the procedure linkage table, as those of libc10 are.
struct ProfiledCPUMemoryReporter {
  void New(void* block, std::size_t bytes);
  void Delete(void* block);
};
void ProfiledCPUMemoryReporter::New(void*, std::size_t bytes) { count(static_cast<std::int64_t>(bytes)); }
void ProfiledCPUMemoryReporter::Delete(void*) { count(-512); }
}  // namespace c10

extern "C" void fake_c10_report(void* block, std::int64_t bytes);
extern "C" void fake_c10_report(void* block, std::int64_t bytes) {
  static c10::ProfiledCPUMemoryReporter reporter;
  if (bytes > 0)
    reporter.New(block, static_cast<std::size_t>(bytes));
  else
    reporter.Delete(block);
}
extern "C" std::int64_t fake_c10_bytes_in_use(std::int64_t* blocks);
extern "C" std::int64_t fake_c10_bytes_in_use(std::int64_t* blocks) {
  *blocks = c10::blocks;
  return c10::bytes_in_use;
}
#pragma GCC visibility pop
