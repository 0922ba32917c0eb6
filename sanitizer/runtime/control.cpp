#include "sanitizer/runtime/control.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dtype_san_version.h"
#include "sanitizer/runtime/system.h"

namespace dtype_guard::san {
namespace {

// Numbers of the kernel's interface that older headers lack.
constexpr unsigned kCloseOnExec = 1, kAllowSealing = 2;
constexpr int kAddSeals = 1033;
constexpr int kSeal = 1, kSealShrink = 2, kSealGrow = 4;
constexpr std::size_t kPage = 4096;

}  // namespace

void open_control() {
  static std::atomic<bool> opened{false};
  if (opened.exchange(true)) return;
  const auto made = static_cast<int>(syscall(SYS_memfd_create, kControlName, kCloseOnExec | kAllowSealing));
  if (made < 0) return;
  const int file = move_up(made);
  // Sealed before it is mapped: a read of this page can never fault.
  if (resize_file(file, kPage) != 0 || fcntl(file, kAddSeals, kSealShrink | kSealGrow | kSeal) != 0) {
    close_file(file);
    return;
  }
  void* mapped = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) {
    close_file(file);
    return;
  }
  auto* page = static_cast<ControlPage*>(mapped);
  memcpy(page->magic, kControlMagic, sizeof page->magic);
  page->version = 1;
  page->on.store(own_switch.load(), std::memory_order_relaxed);
  strncpy(page->library_version, DTYPE_SAN_VERSION, sizeof page->library_version - 1);
  switch_word.store(&page->on, std::memory_order_release);
}

}  // namespace dtype_guard::san
