#include "sanitizer/sources/torch/storage_life.h"

#include <string.h>
#include <sys/mman.h>

#include "sanitizer/platform/loaded_object.h"
#include "sanitizer/platform/rebind.h"
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

void StorageLife::born(std::uintptr_t address) {
  if (StorageEntry* known = find(address)) {  // its end was not announced
    known->chain = {};
    return;
  }
  for (StorageEntry& entry : bucket(address).ways) {
    std::uintptr_t none = 0;
    if (!entry.address.compare_exchange_strong(none, address, std::memory_order_acq_rel)) continue;
    entry.chain = {};  // another thread may have written there as all was forgotten
    return;
  }
  without_room_.fetch_add(1, std::memory_order_relaxed);
}

void StorageLife::died(std::uintptr_t address) {
  StorageEntry* entry = find(address);
  if (entry == nullptr) return;
  entry->chain = {};
  entry->address.store(0, std::memory_order_release);
}

StorageEntry* StorageLife::find(std::uintptr_t address) const {
  // Without origins there is no table, and after they were off it is not true any more.
  if (address == 0 || !on_.load(std::memory_order_acquire)) return nullptr;
  for (StorageEntry& entry : bucket(address).ways)
    if (entry.address.load(std::memory_order_acquire) == address) return &entry;
  return nullptr;
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

constinit std::atomic<void*> original_new{nullptr}, original_delete{nullptr};

constexpr const char* kNew = "_ZN3c1025ProfiledCPUMemoryReporter3NewEPvm";
constexpr const char* kDelete = "_ZN3c1025ProfiledCPUMemoryReporter6DeleteEPv";

}  // namespace
}  // namespace dtype_guard::san::torch

// c10::ProfiledCPUMemoryReporter::New and Delete: the CPU allocator calls them with each block, and nothing
// else does.
extern "C" {

[[gnu::visibility("default")]] void _ZN3c1025ProfiledCPUMemoryReporter3NewEPvm(void* reporter, void* block,
                                                                               std::size_t bytes) {
  using namespace dtype_guard::san::torch;
  if (storage_life.is_on() && block != nullptr) storage_life.born(reinterpret_cast<std::uintptr_t>(block));
  if (auto next = original<void (*)(void*, void*, std::size_t)>(original_new, kNew))
    next(reporter, block, bytes);
}

[[gnu::visibility("default")]] void _ZN3c1025ProfiledCPUMemoryReporter6DeleteEPv(void* reporter,
                                                                                 void* block) {
  using namespace dtype_guard::san::torch;
  if (storage_life.is_on() && block != nullptr) storage_life.died(reinterpret_cast<std::uintptr_t>(block));
  if (auto next = original<void (*)(void*, void*)>(original_delete, kDelete)) next(reporter, block);
}

}  // extern "C"

namespace dtype_guard::san::torch {

// The object that has the functions also has the allocator that calls them.
void lead_allocators_here() {
  LoadedObject object;
  if (!find_object(kNew, object)) return;
  object.each_binding([&](const Binding& binding) {
    if (!binding.is_call && !binding.is_table) return;
    if (strcmp(binding.symbol, kNew) == 0)
      (void)rebind(object, binding.place,
                   reinterpret_cast<std::uintptr_t>(&_ZN3c1025ProfiledCPUMemoryReporter3NewEPvm));
    if (strcmp(binding.symbol, kDelete) == 0)
      (void)rebind(object, binding.place,
                   reinterpret_cast<std::uintptr_t>(&_ZN3c1025ProfiledCPUMemoryReporter6DeleteEPv));
  });
}

}  // namespace dtype_guard::san::torch
