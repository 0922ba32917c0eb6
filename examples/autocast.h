// What `with torch.autocast(device, dtype=torch.bfloat16):` does on entry, and what it answers inside, in the
// words of either libtorch generation.
#pragma once

#include <ATen/autocast_mode.h>
#include <torch/version.h>

#define AUTOCAST_TAKES_A_DEVICE \
  (TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4))

inline void enter_cuda_autocast() {
#if AUTOCAST_TAKES_A_DEVICE
  at::autocast::set_autocast_dtype(at::kCUDA, at::kBFloat16);
  at::autocast::set_autocast_enabled(at::kCUDA, true);
#else
  at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
  at::autocast::set_enabled(true);
#endif
}

inline void enter_cpu_autocast() {
#if AUTOCAST_TAKES_A_DEVICE
  at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
  at::autocast::set_autocast_enabled(at::kCPU, true);
#else
  at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
  at::autocast::set_cpu_enabled(true);
#endif
}

#if AUTOCAST_TAKES_A_DEVICE
inline bool is_cuda_autocast() { return at::autocast::is_autocast_enabled(at::kCUDA); }
inline bool is_cpu_autocast() { return at::autocast::is_autocast_enabled(at::kCPU); }
inline at::ScalarType cuda_autocast_dtype() { return at::autocast::get_autocast_dtype(at::kCUDA); }
inline at::ScalarType cpu_autocast_dtype() { return at::autocast::get_autocast_dtype(at::kCPU); }
#else
inline bool is_cuda_autocast() { return at::autocast::is_enabled(); }
inline bool is_cpu_autocast() { return at::autocast::is_cpu_enabled(); }
inline at::ScalarType cuda_autocast_dtype() { return at::autocast::get_autocast_gpu_dtype(); }
inline at::ScalarType cpu_autocast_dtype() { return at::autocast::get_autocast_cpu_dtype(); }
#endif

// On whichever device the tensors are.
inline bool is_autocast() { return is_cuda_autocast() || is_cpu_autocast(); }
inline at::ScalarType autocast_dtype() {
  return is_cuda_autocast() ? cuda_autocast_dtype() : cpu_autocast_dtype();
}
