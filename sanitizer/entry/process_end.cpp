// _exit: what Python's worker processes and forked children end with. The final counts are written, then the
// real function ends the process.
#include <sys/syscall.h>
#include <unistd.h>

#include "sanitizer/platform/loaded_object.h"
#include "sanitizer/runtime/recorder.h"
#include "sanitizer/settings/settings.h"

namespace dtype_guard::san {
namespace {

[[noreturn]] void end(const char* name, int status) {
  Process* mapped = process_mapping.load(std::memory_order_acquire);
  // A vfork child borrows its parent's memory and must not end the parent's journal.
  if (mapped != nullptr && mapped->owner == process_id()) (void)record_end(*mapped);
  if (auto next = reinterpret_cast<void (*)(int)>(find_original(name)); next != nullptr) next(status);
  for (;;) (void)syscall(SYS_exit_group, status);
}

}  // namespace
}  // namespace dtype_guard::san

extern "C" {

[[gnu::visibility("default")]] void _exit(int status) { dtype_guard::san::end("_exit", status); }
[[gnu::visibility("default")]] void _Exit(int status) noexcept { dtype_guard::san::end("_Exit", status); }

}  // extern "C"
