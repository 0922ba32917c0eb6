// dlsym: the program asks for a function by name (ctypes does), and sources may answer in its place. Where
// none does, the hook jumps to the real dlsym with the caller's registers and return address, by which it
// knows who asks (RTLD_NEXT, RTLD_DEFAULT, RUNPATH).
#include <dlfcn.h>

#include "sanitizer/platform/loaded_object.h"
#include "sanitizer/runtime/source.h"

namespace dtype_guard::san {
namespace {

std::atomic<DlsymFunction> real{nullptr};

void* nothing(void*, const char*) { return nullptr; }

// Libc's, an older libdl's, or another tool's.
DlsymFunction find_real() {
  auto function = reinterpret_cast<DlsymFunction>(find_behind_own("dlsym"));
  if (function != nullptr) real.store(function, std::memory_order_relaxed);
  return function != nullptr ? function : nothing;
}

DlsymFunction real_dlsym() {
  DlsymFunction function = real.load(std::memory_order_relaxed);
  return function != nullptr ? function : find_real();
}

}  // namespace
}  // namespace dtype_guard::san

extern "C" {

using namespace dtype_guard::san;

struct HookAnswer {
  DlsymFunction jump_to;  // nullptr: `value` is the answer
  void* value;
};

// Called by the hook below with its arguments and return address.
[[gnu::visibility("hidden"), gnu::used]] HookAnswer dtype_san_answer_dlsym(void* handle, const char* name,
                                                                           std::uintptr_t caller) {
  const Lookup lookup{handle, name, caller, real_dlsym()};
  for (const Source* source : sources())
    if (const LookupAnswer answer = source->looked_up(lookup); answer.is_given)
      return {nullptr, answer.value};
  return {lookup.real, nullptr};
}

}  // extern "C"

#if defined(__x86_64__)
asm(R"(
  .text
  .globl dlsym
  .type dlsym, @function
dlsym:
  .cfi_startproc
  endbr64
  push %rdi
  .cfi_adjust_cfa_offset 8
  push %rsi
  .cfi_adjust_cfa_offset 8
  sub $8, %rsp
  .cfi_adjust_cfa_offset 8
  mov 24(%rsp), %rdx
  call dtype_san_answer_dlsym
  add $8, %rsp
  .cfi_adjust_cfa_offset -8
  pop %rsi
  .cfi_adjust_cfa_offset -8
  pop %rdi
  .cfi_adjust_cfa_offset -8
  test %rax, %rax
  jz 1f
  jmp *%rax
1:
  mov %rdx, %rax
  ret
  .cfi_endproc
  .size dlsym, . - dlsym
)");
#elif defined(__aarch64__)
asm(R"(
  .text
  .globl dlsym
  .type dlsym, %function
dlsym:
  .cfi_startproc
  hint 34
  stp x0, x1, [sp, #-32]!
  .cfi_adjust_cfa_offset 32
  str x30, [sp, #16]
  .cfi_rel_offset x30, 16
  mov x2, x30
  bl dtype_san_answer_dlsym
  mov x16, x0
  mov x17, x1
  ldr x30, [sp, #16]
  ldp x0, x1, [sp], #32
  .cfi_adjust_cfa_offset -32
  .cfi_restore x30
  cbz x16, 1f
  br x16
1:
  mov x0, x17
  ret
  .cfi_endproc
  .size dlsym, . - dlsym
)");
#else
#error "the dlsym hook needs its jump for this architecture"
#endif
