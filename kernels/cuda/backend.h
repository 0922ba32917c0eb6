// Problems whose tensors lie on a CUDA device, to kernels on its stream. Nothing here allocates, waits or
// reads what lies on the device. none.cpp takes the place of all this in a build without CUDA.
#pragma once

#include "kernels/call/call.h"
#include "kernels/call/kvcache_problem.h"

namespace flash_ref::cuda {

// Whether this library has kernels for CUDA devices.
bool built();

// Where a call runs: on `stream` of the device of its tensors, with the caller's workspace.
struct Place {
  int device;
  void* stream;
  void* workspace;
  std::size_t workspace_bytes;
};

// All return a status. With offsets, seq_q and seq_k of a problem are the rows of all sequences.
int attention_fwd(const Call& call, const AttentionProblem& problem, const Place& place);

int rotary(const Call& call, const RotaryProblem& problem, const Place& place);
int rwkv7_fwd(const Call& call, const Rwkv7Problem& problem, const Place& place);

int attention_bwd(const Call& call, const AttentionBackward& problem, const Place& place);
int attention_kvcache(const Call& call, const KvCacheProblem& problem, const Place& place);
int rwkv7_bwd(const Call& call, const Rwkv7Backward& problem, const Place& place);

// What the workspace has to have.
std::size_t attention_bwd_workspace(const AttentionBackward& problem);
std::size_t rwkv7_bwd_workspace(const Rwkv7Backward& problem);
std::size_t attention_kvcache_workspace(const KvCacheProblem& problem);

}  // namespace flash_ref::cuda
