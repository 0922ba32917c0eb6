// What `with torch.autocast("cuda", dtype=torch.bfloat16):` does on entry, in the words of either libtorch
// generation.
#pragma once

#include <ATen/autocast_mode.h>
#include <torch/version.h>

inline void enter_cuda_autocast() {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
  at::autocast::set_autocast_dtype(at::kCUDA, at::kBFloat16);
  at::autocast::set_autocast_enabled(at::kCUDA, true);
#else
  at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
  at::autocast::set_enabled(true);
#endif
}
