// What a client asks about the library itself.
#include "kernels/call/call.h"

const char* flash_ref_last_error(void) { return flash_ref::last_message(); }

uint32_t flash_ref_abi_version(void) { return FLASH_REF_ABI_VERSION; }
