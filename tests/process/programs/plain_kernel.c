/* A copy of flash_ref from before the observer slot: one kernel that answers with a number of its own. */
#include <dlpack/dlpack.h>

#ifndef ANSWER
#define ANSWER 40
#endif

__attribute__((visibility("default"))) int flash_ref_rotary(const DLTensor* x, const DLTensor* cos,
                                                            const DLTensor* sin, DLTensor* out,
                                                            const void* options) {
  (void)x, (void)sin, (void)out, (void)options;
  return ANSWER + (cos->dtype.bits == 32);
}
