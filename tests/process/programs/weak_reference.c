/* Refers to a kernel weakly and links no library that has it. */
#include <stdio.h>

__attribute__((weak)) int flash_ref_rotary(const void* x, const void* cos, const void* sin, void* out,
                                           const void* options);

int main(void) {
  puts("started");
  if (flash_ref_rotary != NULL) printf("status %d\n", flash_ref_rotary(NULL, NULL, NULL, NULL, NULL));
  return 0;
}
