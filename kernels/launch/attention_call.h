// What the attention functions have in common: their options, the checks of an output, and the way to the
// backend.
#pragma once

#include <initializer_list>

#include "kernels/call/problem.h"
#include "kernels/launch/contract_table.h"
#include "kernels/launch/tensor.h"

namespace flash_ref {

inline constexpr std::int64_t kLargestDim = std::int64_t{1} << 20;

// The options with every member checked, and ALiBi's slopes as a tensor.
struct AttentionSettings {
  flash_ref_attention_options options;
  Tensor slopes;  // without role where there are none
  Tensor mask;    // likewise
  MaskKind mask_kind = MaskKind::kNone;
};

// `api` says which dtypes the tensors among the options may have.
int read_attention_options(const Call& call, const ApiRule& api, const flash_ref_attention_options* given,
                           std::int64_t batch, std::int64_t heads, bool needs_data,
                           AttentionSettings& settings);

// dim of q is in range, k has batch and dim of q (both shapes end with heads and dim), and heads of q are a
// multiple of those of k; v is shaped like k.
int check_heads(const Call& call, const Tensor& q, const Tensor& k);

// `out` has no two elements in one place and shares memory with none of `others`, null-terminated.
int check_output(const Call& call, const Tensor& out, std::initializer_list<const Tensor*> others);

// The members of a problem that come from the options. `dim` is set.
void apply_options(const AttentionSettings& settings, AttentionProblem& problem);

// On the device of the call's tensors.
int solve_attention(const Call& call, const AttentionProblem& problem,
                    const flash_ref_attention_options& options);

// What solve_attention can make use of.
std::size_t attention_workspace(const Call& call, const AttentionProblem& problem);

}  // namespace flash_ref
