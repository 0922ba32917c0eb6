// dlsym: a program that asks for a kernel by name (ctypes does) gets the answer that it would get without us,
// or, for a copy without an observer slot, a function of ours that leads to exactly that kernel.
//
// Every other name is none of our business: the hook jumps to the real dlsym with the caller's registers and
// return address, by which it knows who asks (RTLD_NEXT, RTLD_DEFAULT, RUNPATH).
#include <dlfcn.h>

#include "sanitizer/capture/loaded_object.h"
#include "sanitizer/capture/stack.h"
#include "sanitizer/sources/cupti/source.h"
#include "sanitizer/sources/flash_ref/observed_copies.h"
#include "sanitizer/sources/interceptor.h"
#include "sanitizer/sources/kernel_lookup.h"

namespace dtype_guard::san {
namespace {

using Dlsym = void* (*)(void*, const char*);

std::atomic<Dlsym> real{nullptr};

void* nothing(void*, const char*) { return nullptr; }

// Libc's, an older libdl's, or another tool's.
Dlsym find_real() {
  auto function = reinterpret_cast<Dlsym>(find_behind_own("dlsym"));
  if (function != nullptr) real.store(function, std::memory_order_relaxed);
  return function != nullptr ? function : nothing;
}

Dlsym real_dlsym() {
  Dlsym function = real.load(std::memory_order_relaxed);
  return function != nullptr ? function : find_real();
}

// Without strcmp: an address sanitizer looks up the real one through this very hook.
bool equal(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

const ApiId* watched_name(const char* name) {
  static constexpr ApiId kIds[] = {
#define DTYPE_SAN_API(name, parameters, arguments, operands) ApiId::name,
#include "sanitizer/sources/apis.inc"
#undef DTYPE_SAN_API
  };
  for (const ApiId& id : kIds)
    if (equal(kContracts[static_cast<std::size_t>(id)].name, name)) return &id;
  return nullptr;
}

// What the search finds when this library is not there.
void* without_us(const char* name, std::uintptr_t caller) {
  if (void* found = find_kernel(name, caller).address) return found;
  return real_dlsym()(RTLD_NEXT, name);  // fails, and leaves the message for dlerror
}

void* answer(void* handle, const char* name, ApiId id, std::uintptr_t caller) {
  void* found = handle == RTLD_NEXT ? next_after(name, caller) : real_dlsym()(handle, name);
  if (is_own_code(reinterpret_cast<std::uintptr_t>(found))) found = without_us(name, caller);
  return found != nullptr ? thunk_for(id, found) : nullptr;
}

// Another client of CUPTI, which asks for it by handle: it gets the function that makes room for it first.
// What the handle does not have it does not get from us.
void* cupti_stand_in(void* handle, const char* name) {
  if (name[0] != 'c' || name[1] != 'u' || name[2] != 'p' || !cupti::is_wanted()) return nullptr;
  void* ours = cupti::stand_in(name);
  return ours != nullptr && real_dlsym()(handle, name) != nullptr ? ours : nullptr;
}

}  // namespace
}  // namespace dtype_guard::san

extern "C" {

using namespace dtype_guard::san;

struct DlsymAnswer {
  Dlsym jump_to;  // nullptr: `value` is the answer
  void* value;
};

// Called by the hook below with its arguments and return address.
[[gnu::visibility("hidden"), gnu::used]] DlsymAnswer dtype_san_answer_dlsym(void* handle, const char* name,
                                                                            std::uintptr_t caller) {
  observe_foreign_copies();
  const ApiId* id = name != nullptr ? watched_name(name) : nullptr;
  if (id == nullptr && name != nullptr && handle != RTLD_NEXT && handle != RTLD_DEFAULT)
    if (void* ours = cupti_stand_in(handle, name)) return {nullptr, ours};
  if (id == nullptr || !is_watching()) return {real_dlsym(), nullptr};
  return {nullptr, answer(handle, name, *id, caller)};
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
