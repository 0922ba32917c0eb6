#include "sanitizer/runtime/control.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dtype_san_version.h"
#include "sanitizer/journal/journal_writer.h"
#include "sanitizer/platform/forks.h"
#include "sanitizer/platform/system.h"
#include "sanitizer/process/process.h"
#include "sanitizer/process/switch.h"
#include "sanitizer/runtime/source.h"

namespace dtype_guard::san {
namespace {

// Numbers of the kernel's interface that older headers lack.
constexpr unsigned kCloseOnExec = 1, kAllowSealing = 2;
constexpr int kAddSeals = 1033;
constexpr int kSeal = 1, kSealShrink = 2, kSealGrow = 4;
constexpr std::size_t kPage = 4096;

constinit int descriptor = -1;  // of the page; -1: none is kept
constinit FileIdentity identity;

// Sealed before it is mapped: a read of the page can never fault. `place` is where it is to lie, or null.
// Without memory that others find it is a page of our own, which cannot be switched.
void* map_page(DescriptorThread& thread, void* place) {
  const int fixed = place != nullptr ? MAP_FIXED : 0;
  void* mapped = MAP_FAILED;
  (void)with_descriptors(thread, [&](bool is_shared) -> long {
    const long made = syscall(SYS_memfd_create, kControlName, kCloseOnExec | kAllowSealing);
    if (made < 0) return -errno;
    const auto file = static_cast<int>(made);
    FileStatus status;
    if (resize_file(file, sizeof(ControlPage)) == 0 &&
        fcntl(file, kAddSeals, kSealShrink | kSealGrow | kSeal) == 0 && file_status(file, status))
      mapped = mmap(place, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | fixed, file, 0);
    identity = status.identity;
    if (is_shared && mapped != MAP_FAILED)
      descriptor = move_up(file);
    else
      close_file(file);
    return 0;
  });
  if (mapped == MAP_FAILED && place != nullptr)
    mapped = mmap(place, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
  return mapped;
}

// The parent's: what switches this process must not find it here.
void close_inherited() {
  FileStatus status;
  if (descriptor >= 0 && file_status(descriptor, status) && status.identity == identity)
    close_file(descriptor);
  descriptor = -1;
}

void on_fork();

void make_control(Process& process) {
  close_inherited();
  ControlPage* old = control_page();
  const std::atomic<std::uint32_t>* before = switch_word.load();
  const std::uint32_t on = before->load(std::memory_order_relaxed);
  void* fresh = map_page(process.descriptor_thread, old);
  if (fresh == MAP_FAILED) return;
  auto* made = static_cast<ControlPage*>(fresh);
  made->on.store(on, std::memory_order_relaxed);
  memcpy(made->magic, kControlMagic, sizeof made->magic);
  made->version = 1;
  made->owner = static_cast<std::uint32_t>(process_id());
  strncpy(made->library_version, DTYPE_SAN_VERSION, sizeof made->library_version - 1);
  use_control_page(made);
  if (old == nullptr) made->on.store(before->load(std::memory_order_relaxed));  // switched meanwhile
  show_journal(process);
  if (old == nullptr) call_in_child(on_fork);
}

void on_fork() {
  if (control_page() == nullptr) return;
  QuietSection quiet;
  close_parents_journal();
  open_control();
  for (const Source* source : sources()) source->forked();
}

}  // namespace

void open_control() {
  Process* mapped = process();
  if (mapped == nullptr) return;
  constexpr std::uint32_t kBegun = 1, kDone = 2;
  std::uint32_t state = 0;
  if (!mapped->has_control.compare_exchange_strong(state, kBegun, std::memory_order_acq_rel)) {
    for (Patience patience;
         mapped->has_control.load(std::memory_order_acquire) != kDone && patience.wait();) {
    }
    return;
  }
  make_control(*mapped);
  mapped->has_control.store(kDone, std::memory_order_release);
}

}  // namespace dtype_guard::san
