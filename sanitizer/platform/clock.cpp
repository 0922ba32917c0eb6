#include "sanitizer/platform/clock.h"

#include <elf.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "sanitizer/platform/loaded_object.h"

namespace dtype_guard::san {
namespace {

using ClockFunction = int (*)(clockid_t, timespec*);

ClockFunction find_clock() {
  const auto* file = reinterpret_cast<const ElfW(Ehdr)*>(getauxval(AT_SYSINFO_EHDR));
  if (file == nullptr) return nullptr;
  auto base = reinterpret_cast<std::uintptr_t>(file);
  LoadedObject vdso{"", base, reinterpret_cast<const ElfW(Phdr)*>(base + file->e_phoff), file->e_phnum, 0};
  for (const char* name : {"__vdso_clock_gettime", "__kernel_clock_gettime"})
    if (void* found = vdso.find_function(name)) return reinterpret_cast<ClockFunction>(found);
  return nullptr;
}

// From the kernel itself, since another preloaded library may have its own idea of clock_gettime.
std::uint64_t clock_ns(clockid_t clock) {
  static constinit std::atomic<ClockFunction> known{nullptr};
  static constinit std::atomic<bool> searched{false};
  if (!searched.load(std::memory_order_acquire)) {
    known.store(find_clock(), std::memory_order_relaxed);
    searched.store(true, std::memory_order_release);
  }
  ClockFunction function = known.load(std::memory_order_relaxed);
  timespec now = {};
  if (function == nullptr || function(clock, &now) != 0) (void)syscall(SYS_clock_gettime, clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000U + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

std::uint64_t now_ns() { return clock_ns(CLOCK_REALTIME); }
std::uint64_t monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }

}  // namespace dtype_guard::san
