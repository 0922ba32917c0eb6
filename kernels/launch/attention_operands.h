// The tensors of an attention call, read and checked: in batches of equal sequences, or one sequence after
// the other ("varlen").
#pragma once

#include "kernels/launch/attention_call.h"

namespace flash_ref {

// The rows of sequences that lie one after the other.
struct Offsets {
  Tensor tensor;
  std::int64_t longest = 0;

  const std::int32_t* data() const { return reinterpret_cast<const std::int32_t*>(tensor.data); }
  std::int32_t operator[](std::int64_t i) const { return data()[i * tensor.strides[0]]; }
};

struct AttentionOperands {
  AttentionOperands(const ApiRule& rule, bool is_varlen) : api(rule), varlen(is_varlen) {}

  const ApiRule& api;
  bool varlen;
  Element element = Element::kFloat16;  // of q
  Tensor q, k, v, out, lse;
  Offsets q_offsets, k_offsets;  // with varlen

  std::int64_t batch() const { return varlen ? q_offsets.tensor.sizes[0] - 1 : q.sizes[0]; }
  std::int64_t heads() const { return q.sizes[q.rank - 2]; }
  // With varlen those of the longest sequence.
  std::int64_t seq_q() const { return varlen ? q_offsets.longest : q.sizes[1]; }
  std::int64_t seq_k() const { return varlen ? k_offsets.longest : k.sizes[1]; }
};

// q, k, v and, with varlen, cu_seqlens_q and cu_seqlens_k.
int read_attention_inputs(const Call& call, const DLTensor* const* tensors, bool needs_data,
                          AttentionOperands& operands);

// Shapes of out and lse, without regard to what they share memory with.
int read_out(const Call& call, const char* role, const DLTensor& given, const AttentionOperands& operands,
             Tensor& out);
int read_lse(const Call& call, const DLTensor& given, AttentionOperands& operands);

// out and, if given, lse, as outputs.
int read_attention_outputs(const Call& call, const DLTensor& out, const DLTensor* lse,
                           AttentionOperands& operands);

// The options, with the tensors in them checked against the operands.
int read_settings(const Call& call, const flash_ref_attention_options* given,
                  const AttentionOperands& operands, bool needs_data, AttentionSettings& settings);

// The workspace shares no memory with the operands and the tensors among the options.
int check_workspace(const Call& call, const AttentionOperands& operands, const AttentionSettings& settings);

// Nor do the outputs of a forward function with the latter.
int check_forward_memory(const Call& call, const AttentionOperands& operands,
                         const AttentionSettings& settings);

// The strides of (batch, sequence, head, dim); with varlen the batch takes no steps.
void set_strides(const Tensor& tensor, Strides4& strides);

AttentionProblem make_attention_problem(const AttentionOperands& operands, const AttentionSettings& settings);

}  // namespace flash_ref
