// The inputs and options that RWKV-7 has forward and backward, read and checked.
#pragma once

#include <initializer_list>

#include "kernels/call/problem.h"
#include "kernels/launch/tensor.h"

namespace flash_ref {

struct Rwkv7Operands {
  static constexpr int kSequences = 6;  // r, w, k, v, a, b
  Tensor sequences[kSequences], initial;
  const std::int64_t* sizes() const { return sequences[0].sizes; }
};

// A tensor shaped like r.
int read_rwkv7_sequence(const Call& call, const char* role, const DLTensor& given, bool needs_data,
                        const Rwkv7Operands& operands, Tensor& tensor);

// A state, which may be NULL.
int read_rwkv7_state(const Call& call, const char* role, const DLTensor* given, bool needs_data,
                     const Rwkv7Operands& operands, Tensor& state);

// The sequences and initial_state.
int read_rwkv7_inputs(const Call& call, const DLTensor* const* tensors, bool needs_data,
                      Rwkv7Operands& operands);

int read_rwkv7_options(const Call& call, const flash_ref_rwkv7_options* given,
                       flash_ref_rwkv7_options& options);

// The workspace shares no memory with the inputs nor with `others`.
int check_rwkv7_workspace(const Call& call, const Rwkv7Operands& operands,
                          const flash_ref_rwkv7_options& options,
                          std::initializer_list<const Tensor*> others);

// No element of w is positive: such a number would make the state grow. It is no log decay, but perhaps the
// activation that one is made of.
int check_decay(const Call& call, const Tensor& w, Element element);

// Without out and final_state.
Rwkv7Problem make_rwkv7_problem(const Rwkv7Operands& operands, Element element,
                                const flash_ref_rwkv7_options& options);

}  // namespace flash_ref
