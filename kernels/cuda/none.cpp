// In place of the backend, in a build without CUDA: tensors on its devices were refused before.
#include "kernels/cuda/backend.h"

namespace flash_ref::cuda {
namespace {

int refuse(const Call& call) {
  return call.fail(FLASH_REF_BAD_DEVICE, "this library was built without CUDA");
}

}  // namespace

bool built() { return false; }

int attention_fwd(const Call& call, const AttentionProblem&, const Place&) { return refuse(call); }

}  // namespace flash_ref::cuda
