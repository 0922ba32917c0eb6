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

int rotary(const Call& call, const RotaryProblem&, const Place&) { return refuse(call); }
int rwkv7_fwd(const Call& call, const Rwkv7Problem&, const Place&) { return refuse(call); }

int attention_kvcache(const Call& call, const KvCacheProblem&, const Place&) { return refuse(call); }
std::size_t attention_kvcache_workspace(const KvCacheProblem&) { return 0; }

int attention_bwd(const Call& call, const AttentionBackward&, const Place&) { return refuse(call); }
std::size_t attention_bwd_workspace(const AttentionBackward&) { return 0; }

int rwkv7_bwd(const Call& call, const Rwkv7Backward&, const Place&) { return refuse(call); }
std::size_t rwkv7_bwd_workspace(const Rwkv7Backward&) { return 0; }

}  // namespace flash_ref::cuda
