/* Calls flash_ref_rotary as the linker binds it: to a shared library, or to a copy inside this program. */
#include "rotary_call.h"

extern int flash_ref_rotary(const DLTensor*, const DLTensor*, const DLTensor*, DLTensor*, const void*);

int main(void) {
  rotate_four_times(flash_ref_rotary);
  return 0;
}
