// kernels/cuda/runtime.cpp where devices are emulated: there is one, number 0.
#include "kernels/cuda/runtime.h"

#include "tests/emulated/block.h"

namespace flash_ref::cuda {

bool built() { return true; }

CurrentDevice::CurrentDevice(const Call& call, int device) {
  if (device != 0) status_ = call.fail(FLASH_REF_BAD_DEVICE, "there is no emulated device %d", device);
}

CurrentDevice::~CurrentDevice() = default;

int status_of(const Call& call, int) {
  const std::string error = flash_ref_emulated::take_error();
  return error.empty() ? 0 : call.fail(FLASH_REF_DEVICE_ERROR, "%s", error.c_str());
}

}  // namespace flash_ref::cuda
