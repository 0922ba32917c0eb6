// Whether two tensors share a byte. Addresses of a tensor's bytes are a sum of steps, stride times index, so
// two tensors meet where a bounded linear equation in whole numbers has a solution. Ranges of addresses that
// are apart answer at once, which is nearly every call; else the equation is searched, the largest step
// first.
#pragma once

#include <cstddef>
#include <initializer_list>

#include "kernels/launch/tensor.h"

namespace flash_ref {

// Fails if `out` shares memory with `other`. Interleaved views of one buffer pass; so do layouts so irregular
// that the search ends without an answer.
int check_apart(const Call& call, const Tensor& out, const Tensor& other);

// Fails if options.workspace shares memory with a tensor of the call.
int check_workspace(const Call& call, void* workspace, std::size_t bytes,
                    std::initializer_list<const Tensor*> tensors);

template <class Options>
int check_workspace(const Call& call, const Options& options, std::initializer_list<const Tensor*> tensors) {
  return check_workspace(call, options.workspace, options.workspace_bytes, tensors);
}

}  // namespace flash_ref
