#include "sanitizer/sources/torch/storage_life.h"

#include <string.h>
#include <sys/mman.h>

#include <span>

#include "sanitizer/platform/loaded_object.h"
#include "sanitizer/platform/rebind.h"
#include "sanitizer/sources/torch/abi.h"
#include "sanitizer/sources/torch/compiled_regions.h"
#include "sanitizer/sources/torch/library.h"

namespace dtype_guard::san::torch {

bool StorageLife::start() {
  if (buckets_ != nullptr) return true;
  void* fresh =
      mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (fresh == MAP_FAILED) return false;
  buckets_ = static_cast<Bucket*>(fresh);
  return true;
}

void StorageLife::clear() {
  if (buckets_ != nullptr) (void)madvise(buckets_, bytes(), MADV_DONTNEED);
}

StorageEntry* StorageLife::take_free(Bucket& ways, std::uintptr_t address) {
  for (std::size_t i = 0; i < kWays; ++i) {
    std::uintptr_t none = 0;
    if (ways.addresses[i].load(std::memory_order_relaxed) == 0 &&
        ways.addresses[i].compare_exchange_strong(none, address, std::memory_order_acq_rel))
      return &ways.entries[i];
  }
  return nullptr;
}

void StorageLife::born(std::uintptr_t address) {
  StorageEntry* entry = find(address);  // its end was not announced
  Bucket& ways = bucket(address);
  if (entry == nullptr) entry = take_free(ways, address);
  for (std::size_t i = 0; i < kWays && entry == nullptr; ++i) {
    std::uintptr_t used = ways.addresses[i].load(std::memory_order_acquire);
    if (used != 0 && ways.entries[i].is_unannounced != 0 &&
        ways.addresses[i].compare_exchange_strong(used, address, std::memory_order_acq_rel))
      entry = &ways.entries[i];
  }
  if (entry == nullptr) {
    without_room_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  *entry = {};  // another thread may have written there as all was forgotten
  const SiteNumber region = region_of_block();
  if (region == 0) return;
  entry->first_use = index_of(region) + 1;
  entry->is_compiled = 1;
}

void StorageLife::died(std::uintptr_t address) {
  if (address == 0) return;
  Bucket& ways = bucket(address);
  for (std::size_t i = 0; i < kWays; ++i) {
    if (ways.addresses[i].load(std::memory_order_acquire) != address) continue;
    ways.entries[i] = {};
    ways.addresses[i].store(0, std::memory_order_release);
    return;
  }
}

StorageEntry* StorageLife::take_unused(std::uintptr_t address) {
  if (address == 0 || !is_on()) return nullptr;
  if (StorageEntry* known = find(address)) return known->is_unused() ? known : nullptr;
  StorageEntry* fresh = take_free(bucket(address), address);
  if (fresh == nullptr) return nullptr;
  *fresh = {};
  fresh->is_unannounced = 1;
  return fresh;
}

namespace {

// The function of the same name that is called on; each is looked up once.
template <typename Function>
Function original(std::atomic<void*>& known, const char* symbol) {
  void* function = known.load(std::memory_order_relaxed);
  if (function == nullptr) {
    function = find_original(symbol);
    known.store(function, std::memory_order_relaxed);
  }
  Function typed;
  memcpy(&typed, &function, sizeof typed);
  return typed;
}

constinit std::atomic<void*> original_new{nullptr}, original_delete{nullptr}, original_report{nullptr},
    original_signed_report{nullptr};

constexpr const char* kNew = "_ZN3c1025ProfiledCPUMemoryReporter3NewEPvm";
constexpr const char* kDelete = "_ZN3c1025ProfiledCPUMemoryReporter6DeleteEPv";
constexpr const char* kReport = "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE";
constexpr const char* kSignedReport = "_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE";

// What stands below for the functions of c10. In a process that was joined the address of an exported
// function could be that of c10's own, so these are led to by their own.

void on_new(void* reporter, void* block, std::size_t bytes) {
  if (storage_life.is_on() && block != nullptr) storage_life.born(reinterpret_cast<std::uintptr_t>(block));
  if (auto next = original<decltype(&on_new)>(original_new, kNew)) next(reporter, block, bytes);
}

void on_delete(void* reporter, void* block) {
  if (storage_life.is_on() && block != nullptr) storage_life.died(reinterpret_cast<std::uintptr_t>(block));
  if (auto next = original<decltype(&on_delete)>(original_delete, kDelete)) next(reporter, block);
}

// Of the CPU's blocks, which come by here only while a profiler asks for them, New and Delete tell.
void note_device_block(void* block, std::int64_t bytes, Device device) {
  if (!storage_life.is_on() || block == nullptr || device.type == kCpu) return;
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  if (bytes > 0) storage_life.born(address);
  if (bytes < 0) storage_life.died(address);
}

void on_report(void* block, std::int64_t bytes, std::size_t allocated, std::size_t reserved, Device device) {
  note_device_block(block, bytes, device);
  if (auto next = original<decltype(&on_report)>(original_report, kReport))
    next(block, bytes, allocated, reserved, device);
}

void on_signed_report(void* block, std::int64_t bytes, std::int64_t allocated, std::int64_t reserved,
                      Device device) {
  note_device_block(block, bytes, device);
  if (auto next = original<decltype(&on_signed_report)>(original_signed_report, kSignedReport))
    next(block, bytes, allocated, reserved, device);
}

}  // namespace
}  // namespace dtype_guard::san::torch

extern "C" {

using namespace dtype_guard::san::torch;

// c10::ProfiledCPUMemoryReporter::New and Delete: the CPU allocator calls them with each block, and nothing
// else does.
[[gnu::visibility("default")]] void _ZN3c1025ProfiledCPUMemoryReporter3NewEPvm(void* reporter, void* block,
                                                                               std::size_t bytes) {
  on_new(reporter, block, bytes);
}

[[gnu::visibility("default")]] void _ZN3c1025ProfiledCPUMemoryReporter6DeleteEPv(void* reporter,
                                                                                 void* block) {
  on_delete(reporter, block);
}

// c10::reportMemoryUsageToProfiler: the caching allocators of devices call it as they hand out a block, and
// as it comes back, then with a negative size. The totals are unsigned since 2.0.
[[gnu::visibility("default")]] void _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(
    void* block, std::int64_t bytes, std::size_t allocated, std::size_t reserved, Device device) {
  on_report(block, bytes, allocated, reserved, device);
}

[[gnu::visibility("default")]] void _ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE(
    void* block, std::int64_t bytes, std::int64_t allocated, std::int64_t reserved, Device device) {
  on_signed_report(block, bytes, allocated, reserved, device);
}

}  // extern "C"

namespace dtype_guard::san::torch {
namespace {

struct Led {
  const char* symbol;
  std::uintptr_t here;
};

// Calls of these functions that the object with `exported` makes.
void lead_calls_of(const char* exported, std::span<const Led> functions) {
  LoadedObject object;
  if (!find_object(exported, object)) return;
  object.each_binding([&](const Binding& binding) {
    if (!binding.is_call && !binding.is_table) return;
    for (const Led& one : functions)
      if (strcmp(binding.symbol, one.symbol) == 0) (void)rebind(object, binding.place, one.here);
  });
}

}  // namespace

// The object that has the CPU's functions also has the allocator that calls them; that of CUDA devices is in
// libc10_cuda, which the other function is of.
void lead_allocators_here() {
  const Led of_cpu[] = {{kNew, reinterpret_cast<std::uintptr_t>(&on_new)},
                        {kDelete, reinterpret_cast<std::uintptr_t>(&on_delete)}};
  const Led of_cuda[] = {{kReport, reinterpret_cast<std::uintptr_t>(&on_report)},
                         {kSignedReport, reinterpret_cast<std::uintptr_t>(&on_signed_report)}};
  lead_calls_of(kNew, of_cpu);
  lead_calls_of("_ZN3c104cuda12device_countEv", of_cuda);
}

}  // namespace dtype_guard::san::torch
