#include "sanitizer/process/tally.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sanitizer/platform/system.h"

namespace dtype_guard::san {
namespace {

constexpr int kGetSeals = 1034, kSealShrink = 2;  // of the kernel's interface; older headers lack them
constexpr std::size_t kPage = 4096;

constinit TallyPage* page = nullptr;

// Only what cannot shrink is mapped: a write to it can never fault.
void* map_sealed(const char* path) {
  const auto file = static_cast<int>(open_file(AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0));
  if (file < 0) return MAP_FAILED;
  const int seals = fcntl(file, kGetSeals);
  FileStatus status;
  void* mapped = MAP_FAILED;
  if (seals >= 0 && (seals & kSealShrink) != 0 && file_status(file, status) &&
      status.size >= sizeof(TallyPage))
    mapped = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close_file(file);
  return mapped;
}

}  // namespace

void open_tally() {
  const char* path = getenv(kTallyVariable);
  if (path == nullptr || strncmp(path, "/proc/", 6) != 0) return;
  void* mapped = map_sealed(path);
  if (mapped == MAP_FAILED) return;
  auto* found = static_cast<TallyPage*>(mapped);
  if (memcmp(found->magic, kTallyMagic, sizeof kTallyMagic) == 0)
    page = found;
  else
    munmap(mapped, kPage);
}

TallyPage* tally() { return page; }

void keep_reason(std::atomic<std::uint32_t>& reason, long error) {
  std::uint32_t none = 0;
  reason.compare_exchange_strong(none, static_cast<std::uint32_t>(-error), std::memory_order_relaxed);
}

}  // namespace dtype_guard::san
