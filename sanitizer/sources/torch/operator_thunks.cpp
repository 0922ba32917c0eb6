#include "sanitizer/sources/torch/operator_thunks.h"

// All thunks have the same size, so that one address tells where the others are.
#if defined(__x86_64__)
asm(R"(
  .text
  .p2align 4
  .type dtype_san_operator_thunks, @function
dtype_san_operator_thunks:
  number = 0
  .rept 24
  .cfi_startproc
  .p2align 4
  endbr64
  mov $number, %r11d
  jmp 1f
  .p2align 4
  .cfi_endproc
  number = number + 1
  .endr
  .size dtype_san_operator_thunks, . - dtype_san_operator_thunks

  .type dtype_san_operator_entry, @function
dtype_san_operator_entry:
1:
  .cfi_startproc
  push %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  mov %rsp, %rbp
  .cfi_def_cfa_register %rbp
  sub $176, %rsp
  mov %rdi, (%rsp)
  mov %rsi, 8(%rsp)
  mov %rdx, 16(%rsp)
  mov %rcx, 24(%rsp)
  mov %r8, 32(%rsp)
  mov %r9, 40(%rsp)
  movups %xmm0, 48(%rsp)
  movups %xmm1, 64(%rsp)
  movups %xmm2, 80(%rsp)
  movups %xmm3, 96(%rsp)
  movups %xmm4, 112(%rsp)
  movups %xmm5, 128(%rsp)
  movups %xmm6, 144(%rsp)
  movups %xmm7, 160(%rsp)
  mov %r11d, %edi
  mov %rsp, %rsi
  lea 16(%rbp), %rdx
  mov 8(%rbp), %rcx
  call dtype_san_enter_operator
  mov %rax, %r11
  mov (%rsp), %rdi
  mov 8(%rsp), %rsi
  mov 16(%rsp), %rdx
  mov 24(%rsp), %rcx
  mov 32(%rsp), %r8
  mov 40(%rsp), %r9
  movups 48(%rsp), %xmm0
  movups 64(%rsp), %xmm1
  movups 80(%rsp), %xmm2
  movups 96(%rsp), %xmm3
  movups 112(%rsp), %xmm4
  movups 128(%rsp), %xmm5
  movups 144(%rsp), %xmm6
  movups 160(%rsp), %xmm7
  leave
  .cfi_def_cfa %rsp, 8
  jmp *%r11
  .cfi_endproc
  .size dtype_san_operator_entry, . - dtype_san_operator_entry
)");
#elif defined(__aarch64__)
asm(R"(
  .text
  .p2align 4
  .type dtype_san_operator_thunks, %function
dtype_san_operator_thunks:
  number = 0
  .rept 24
  .cfi_startproc
  .p2align 4
  hint 34
  mov w16, #number
  b 1f
  .p2align 4
  .cfi_endproc
  number = number + 1
  .endr
  .size dtype_san_operator_thunks, . - dtype_san_operator_thunks

  .type dtype_san_operator_entry, %function
dtype_san_operator_entry:
1:
  .cfi_startproc
  stp x29, x30, [sp, #-224]!
  .cfi_adjust_cfa_offset 224
  .cfi_rel_offset x29, 0
  .cfi_rel_offset x30, 8
  mov x29, sp
  stp x0, x1, [sp, #16]
  stp x2, x3, [sp, #32]
  stp x4, x5, [sp, #48]
  stp x6, x7, [sp, #64]
  str x8, [sp, #80]
  stp q0, q1, [sp, #96]
  stp q2, q3, [sp, #128]
  stp q4, q5, [sp, #160]
  stp q6, q7, [sp, #192]
  mov w0, w16
  add x1, sp, #16
  add x2, sp, #224
  mov x3, x30
  bl dtype_san_enter_operator
  mov x16, x0
  ldp q6, q7, [sp, #192]
  ldp q4, q5, [sp, #160]
  ldp q2, q3, [sp, #128]
  ldp q0, q1, [sp, #96]
  ldr x8, [sp, #80]
  ldp x6, x7, [sp, #64]
  ldp x4, x5, [sp, #48]
  ldp x2, x3, [sp, #32]
  ldp x0, x1, [sp, #16]
  ldp x29, x30, [sp], #224
  .cfi_adjust_cfa_offset -224
  .cfi_restore x29
  .cfi_restore x30
  br x16
  .cfi_endproc
  .size dtype_san_operator_entry, . - dtype_san_operator_entry
)");
#else
#error "the operators' thunks need their jump for this architecture"
#endif

extern "C" [[gnu::visibility("hidden")]] const char dtype_san_operator_thunks[];

namespace dtype_guard::san::torch {

void* operator_thunk(std::size_t number) {
  constexpr std::size_t kSize = 16;
  return number < kOperatorThunks ? const_cast<char*>(dtype_san_operator_thunks + number * kSize) : nullptr;
}

}  // namespace dtype_guard::san::torch
