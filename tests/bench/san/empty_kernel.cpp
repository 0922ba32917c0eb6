// flash_ref_rotary without its arithmetic: what is left is the call and its observers, so that nanoseconds
// can be measured. The slot and its note are flash_ref's own.
#include "flash_ref/flash_ref.h"
#include "kernels/launch/flash_ref_contract.h"
#include "kernels/launch/observer.h"

namespace {

[[gnu::noinline]] int nothing(const DLTensor*, const DLTensor*, const DLTensor*, DLTensor*,
                              const flash_ref_rotary_options*) {
  asm volatile("");
  return FLASH_REF_OK;
}

}  // namespace

int flash_ref_rotary(const DLTensor* x, const DLTensor* cos, const DLTensor* sin, DLTensor* out,
                     const flash_ref_rotary_options* options) {
  return flash_ref::observed(flash_ref::kFlashRefRotary, nothing, options, x, cos, sin, out);
}
