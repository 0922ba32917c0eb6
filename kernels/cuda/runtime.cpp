#include "kernels/cuda/runtime.h"

#include <cuda_runtime_api.h>

namespace flash_ref::cuda {
namespace {

constexpr int kLeastCapability = 8;  // of the Ampere instructions that the kernels use

int fail(const Call& call, int device, cudaError_t error) {
  return call.fail(FLASH_REF_BAD_DEVICE, "CUDA device %d cannot be used: %s (%s)", device,
                   cudaGetErrorString(error), cudaGetErrorName(error));
}

}  // namespace

bool built() { return true; }

CurrentDevice::CurrentDevice(const Call& call, int device) {
  int current = -1, major = 0;
  cudaError_t error = cudaGetDevice(&current);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  if (error == cudaSuccess && major < kLeastCapability) {
    status_ =
        call.fail(FLASH_REF_BAD_DEVICE, "CUDA device %d has compute capability %d; expected %d or later",
                  device, major, kLeastCapability);
    return;
  }
  if (error == cudaSuccess && current != device) {
    error = cudaSetDevice(device);
    if (error == cudaSuccess) previous_ = current;
  }
  if (error != cudaSuccess) status_ = fail(call, device, error);
}

CurrentDevice::~CurrentDevice() {
  if (previous_ >= 0) cudaSetDevice(previous_);
}

int status_of(const Call& call, int error) {
  if (error == 0) return FLASH_REF_OK;
  const auto code = static_cast<cudaError_t>(error);
  return call.fail(FLASH_REF_DEVICE_ERROR, "the kernel could not be launched: %s (%s)",
                   cudaGetErrorString(code), cudaGetErrorName(code));
}

}  // namespace flash_ref::cuda
