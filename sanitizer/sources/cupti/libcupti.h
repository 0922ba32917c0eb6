// The libcupti and libcuda of this process. A second libcupti beside one that is loaded would see nothing and
// disturb it, so whatever object exports CUPTI's functions is the one; only where there is none, and a CUDA
// runtime is loaded, the one that lies beside it is opened.
#pragma once

#include "sanitizer/platform/text_buffer.h"
#include "sanitizer/sources/cupti/abi.h"
#include "sanitizer/sources/cupti/driver.h"

namespace dtype_guard::san::cupti {

// False when there is none; `reason` then says where one was looked for.
bool find_cupti(Functions& functions, TextSink& reason);

Driver find_driver();
// Whether cuInit has been called: before that, subscribing is not allowed.
bool is_driver_initialised();
// libcudart is loaded and libcuda is not.
bool has_runtime_without_driver();

// The function of that name in the libcupti that is loaded; nullptr without one.
void* find_in_cupti(const char* name);

}  // namespace dtype_guard::san::cupti
