// exec: the program that was watched ends here, without its destructors. Its counts are written, then the
// real function is jumped to with the caller's registers and stack, as if it had been called itself; whether
// it returns is not our business. The child of a vfork, which borrows its parent's memory, writes nothing.
#include <errno.h>
#include <unistd.h>

#include <string_view>

#include "sanitizer/platform/loaded_object.h"
#include "sanitizer/process/bare_children.h"
#include "sanitizer/runtime/recorder.h"
#include "sanitizer/settings/settings.h"

namespace dtype_guard::san {
namespace {

// There is no libc behind us: no call should have come here.
int fail() {
  errno = ENOSYS;
  return -1;
}

// `path` may be any address: the kernel is to find that out.
std::string_view text_at(const char* path, char* buffer, std::size_t size) {
  std::string_view text(buffer, path != nullptr ? read_some(path, buffer, size) : 0);
  return text.substr(0, text.find('\0'));
}

bool names_a_path(std::string_view function) { return function != "fexecve" && function != "execveat"; }

// The hook's argument `at`, from what it saved below its return address.
const void* argument(const void* const* saved, std::size_t at) {
#if defined(__x86_64__)
  constexpr std::size_t kInRegisters = 6;
  constexpr std::size_t kSavedWords = 8;                   // with the return address
  if (at < kInRegisters) return saved[kInRegisters - at];  // %rdi was pushed first
#else
  constexpr std::size_t kInRegisters = 8;
  constexpr std::size_t kSavedWords = 10;
  if (at < kInRegisters) return saved[at];
#endif
  return saved[kSavedWords + at - kInRegisters];
}

const char* const* environment_of(std::string_view function, const void* const* saved) {
  std::size_t at = 0;
  if (function == "execve" || function == "execvpe" || function == "fexecve") at = 2;
  if (function == "execveat") at = 3;
  if (function == "execle") {
    for (at = 1; argument(saved, at) != nullptr;) ++at;  // the words end with NULL
    ++at;
  }
  return at != 0 ? static_cast<const char* const*>(argument(saved, at)) : environ;
}

}  // namespace
}  // namespace dtype_guard::san

extern "C" {

// Called by the hooks below with the words that they saved; gives where to jump.
[[gnu::visibility("hidden"), gnu::used]] void* dtype_san_before_exec(const char* name,
                                                                     const void* const* saved) {
  using namespace dtype_guard::san;
  const std::string_view function = name;
  Process* mapped = process_mapping.load(std::memory_order_acquire);
  if (mapped != nullptr && mapped->owner == process_id()) {
    char buffer[256];
    std::string_view path;
    if (function != "fexecve") {
      const void* given = argument(saved, function == "execveat" ? 1 : 0);
      path = text_at(static_cast<const char*>(given), buffer, sizeof buffer);
    }
    record_exec(*mapped, path.empty() && !names_a_path(function) ? "(a descriptor)" : path);
  }
  {
    QuietSection quiet;
    note_environment(environment_of(function, saved));
  }
  void* next = find_original(name);
  return next != nullptr ? next : reinterpret_cast<void*>(&fail);
}

}  // extern "C"

// All registers that hold arguments are kept: execl and its like take any number.
#if defined(__x86_64__)
#define DTYPE_SAN_EXEC(name)               \
  asm(".text\n"                            \
      ".globl " #name                      \
      "\n"                                 \
      ".type " #name ", @function\n" #name \
      ":\n"                                \
      ".cfi_startproc\n"                   \
      "endbr64\n"                          \
      "push %rdi\n"                        \
      ".cfi_adjust_cfa_offset 8\n"         \
      "push %rsi\n"                        \
      ".cfi_adjust_cfa_offset 8\n"         \
      "push %rdx\n"                        \
      ".cfi_adjust_cfa_offset 8\n"         \
      "push %rcx\n"                        \
      ".cfi_adjust_cfa_offset 8\n"         \
      "push %r8\n"                         \
      ".cfi_adjust_cfa_offset 8\n"         \
      "push %r9\n"                         \
      ".cfi_adjust_cfa_offset 8\n"         \
      "push %rax\n"                        \
      ".cfi_adjust_cfa_offset 8\n"         \
      "mov %rsp, %rsi\n"                   \
      "lea 1f(%rip), %rdi\n"               \
      "call dtype_san_before_exec\n"       \
      "mov %rax, %r11\n"                   \
      "pop %rax\n"                         \
      ".cfi_adjust_cfa_offset -8\n"        \
      "pop %r9\n"                          \
      ".cfi_adjust_cfa_offset -8\n"        \
      "pop %r8\n"                          \
      ".cfi_adjust_cfa_offset -8\n"        \
      "pop %rcx\n"                         \
      ".cfi_adjust_cfa_offset -8\n"        \
      "pop %rdx\n"                         \
      ".cfi_adjust_cfa_offset -8\n"        \
      "pop %rsi\n"                         \
      ".cfi_adjust_cfa_offset -8\n"        \
      "pop %rdi\n"                         \
      ".cfi_adjust_cfa_offset -8\n"        \
      "jmp *%r11\n"                        \
      ".cfi_endproc\n"                     \
      ".size " #name ", . - " #name        \
      "\n"                                 \
      ".pushsection .rodata\n"             \
      "1: .asciz \"" #name                 \
      "\"\n"                               \
      ".popsection\n");
#elif defined(__aarch64__)
#define DTYPE_SAN_EXEC(name)               \
  asm(".text\n"                            \
      ".globl " #name                      \
      "\n"                                 \
      ".type " #name ", %function\n" #name \
      ":\n"                                \
      ".cfi_startproc\n"                   \
      "hint 34\n"                          \
      "stp x0, x1, [sp, #-80]!\n"          \
      ".cfi_adjust_cfa_offset 80\n"        \
      "stp x2, x3, [sp, #16]\n"            \
      "stp x4, x5, [sp, #32]\n"            \
      "stp x6, x7, [sp, #48]\n"            \
      "str x30, [sp, #64]\n"               \
      ".cfi_rel_offset x30, 64\n"          \
      "mov x1, sp\n"                       \
      "adrp x0, 1f\n"                      \
      "add x0, x0, :lo12:1f\n"             \
      "bl dtype_san_before_exec\n"         \
      "mov x16, x0\n"                      \
      "ldr x30, [sp, #64]\n"               \
      "ldp x6, x7, [sp, #48]\n"            \
      "ldp x4, x5, [sp, #32]\n"            \
      "ldp x2, x3, [sp, #16]\n"            \
      "ldp x0, x1, [sp], #80\n"            \
      ".cfi_adjust_cfa_offset -80\n"       \
      ".cfi_restore x30\n"                 \
      "br x16\n"                           \
      ".cfi_endproc\n"                     \
      ".size " #name ", . - " #name        \
      "\n"                                 \
      ".pushsection .rodata\n"             \
      "1: .asciz \"" #name                 \
      "\"\n"                               \
      ".popsection\n");
#else
#error "the exec hooks need their jump for this architecture"
#endif

DTYPE_SAN_EXEC(execl)
DTYPE_SAN_EXEC(execle)
DTYPE_SAN_EXEC(execlp)
DTYPE_SAN_EXEC(execv)
DTYPE_SAN_EXEC(execve)
DTYPE_SAN_EXEC(execveat)
DTYPE_SAN_EXEC(execvp)
DTYPE_SAN_EXEC(execvpe)
DTYPE_SAN_EXEC(fexecve)
