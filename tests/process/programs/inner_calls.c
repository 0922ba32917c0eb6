/* A library with a copy of flash_ref inside, which calls it. */
#include "rotary_call.h"

extern int flash_ref_rotary(const DLTensor*, const DLTensor*, const DLTensor*, DLTensor*, const void*);

__attribute__((visibility("default"))) void call_inside(void) { rotate_four_times(flash_ref_rotary); }
