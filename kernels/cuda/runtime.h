// The little that the host needs of the CUDA runtime, apart from launching.
#pragma once

#include "kernels/cuda/backend.h"

namespace flash_ref::cuda {

// Makes a device the current one for the life of this, and puts the one before back.
class CurrentDevice {
 public:
  CurrentDevice(const Call& call, int device);
  ~CurrentDevice();
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

  int status() const { return status_; }

 private:
  int previous_ = -1, status_ = 0;
};

// Whether the RWKV-7 kernels can do it, as a status.
int check_rwkv7(const Call& call, const Rwkv7Problem& problem);

// The status for what a launch returned.
int status_of(const Call& call, int error);

}  // namespace flash_ref::cuda
