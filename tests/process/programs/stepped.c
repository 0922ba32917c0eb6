/* Calls flash_ref_rotary a few times and then once more between two breakpoints, for a tracer that looks at
 * each instruction in between. */
#include "rotary_call.h"

extern int flash_ref_rotary(const DLTensor*, const DLTensor*, const DLTensor*, DLTensor*, const void*);

int main(void) {
  int64_t shape[4] = {1, 8, 4, 16}, table[2] = {8, 8};
  uint32_t storage[3][512];
  for (int i = 0; i < 3 * 512; ++i) storage[i / 512][i % 512] = 0x3c003c00U + (uint32_t)i;
  DLTensor x = {0}, cosine = {0}, sine = {0};
  DLTensor* all[3] = {&x, &cosine, &sine};
  for (int i = 0; i < 3; ++i) {
    all[i]->data = storage[i];
    *(int*)&all[i]->device.device_type = 1;
    all[i]->ndim = i == 0 ? 4 : 2;
    all[i]->shape = i == 0 ? shape : table;
    all[i]->dtype.code = 4;
    all[i]->dtype.bits = 16;
    all[i]->dtype.lanes = 1;
  }
  int sum = 0;
  /* In place: from the second call on the input is what an earlier call has written. */
  for (int i = 0; i < 12; ++i) {
    if (i >= 10) __asm__ volatile("int3");
    sum += flash_ref_rotary(&x, &cosine, &sine, &x, 0);
  }
  __asm__ volatile("int3");
  return sum != 0 && sum != 12 * 40;
}
