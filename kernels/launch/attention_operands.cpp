#include "kernels/launch/attention_operands.h"

#include <algorithm>

#include "kernels/launch/dtype_check.h"
#include "kernels/launch/overlap.h"

namespace flash_ref {
namespace {

Shape query_shape(bool varlen) {
  return varlen ? Shape{3, "(total_q, heads, dim)"} : Shape{4, "(batch, seq_q, heads, dim)"};
}

Shape key_shape(bool varlen) {
  return varlen ? Shape{3, "(total_k, kv_heads, dim)"} : Shape{4, "(batch, seq_k, kv_heads, dim)"};
}

int read_offsets(const Call& call, const char* role, const DLTensor& given, std::int64_t total,
                 const char* total_name, Offsets& offsets) {
  if (int status = read_tensor(call, role, given, {1, "(batch + 1)"}, true, offsets.tensor)) return status;
  const std::int64_t count = offsets.tensor.sizes[0];
  if (count == 0) return call.fail(FLASH_REF_BAD_SHAPE, "%s has shape (0); expected (batch + 1)", role);
  if (call.on_cuda()) {  // out of the host's sight: the longest sequence is all of them at most
    offsets.longest = total;
    return FLASH_REF_OK;
  }
  if (offsets[0] != 0) {
    return call.fail(FLASH_REF_BAD_VALUE, "%s[0] is %d; expected 0", role, static_cast<int>(offsets[0]));
  }
  for (std::int64_t i = 1; i < count; ++i) {
    if (offsets[i] < offsets[i - 1]) {
      return call.fail(FLASH_REF_BAD_VALUE, "%s[%lld] is %d; expected at least the element before it, %d",
                       role, static_cast<long long>(i), static_cast<int>(offsets[i]),
                       static_cast<int>(offsets[i - 1]));
    }
    offsets.longest = std::max<std::int64_t>(offsets.longest, offsets[i] - offsets[i - 1]);
  }
  if (offsets[count - 1] == total) return FLASH_REF_OK;
  return call.fail(FLASH_REF_BAD_VALUE, "%s[%lld] is %d; expected %s, which is %lld", role,
                   static_cast<long long>(count - 1), static_cast<int>(offsets[count - 1]), total_name,
                   static_cast<long long>(total));
}

// For a dtype that the contract accepts: bool, float32 or that of q.
MaskKind mask_kind_of(DLDataType dtype) {
  constexpr unsigned kDlpackBool = 6;
  if (dtype.code == kDlpackBool) return MaskKind::kBool;
  return dtype.bits == 32 ? MaskKind::kFloat32 : MaskKind::kLikeQ;
}

struct MaskShape {
  Shape two, four;
  const char *of_two, *of_four;  // where the sizes come from
};

constexpr MaskShape kMaskOfBatches = {{2, "(seq_q or 1, seq_k), with 2 or 4 dimensions"},
                                      {4, "(batch or 1, heads or 1, seq_q or 1, seq_k)"},
                                      "(seq_q of q, perhaps 1, and seq_k of k)",
                                      "(batch, heads and seq_q of q, each perhaps 1, and seq_k of k)"};
constexpr MaskShape kMaskOfSequences = {{2, "(longest_q or 1, longest_k), with 2 or 4 dimensions"},
                                        {4, "(batch or 1, heads or 1, longest_q or 1, longest_k)"},
                                        "(the longest sequence of q, perhaps 1, and of k, each or more)",
                                        "(batch, heads of q, the longest sequence of q, each perhaps 1, and "
                                        "the longest of k; lengths may be more)"};

// Sizes of 1 serve all batches, heads and queries: their strides are 0. Sequences of different lengths each
// look at the beginning of their part, so there may be more than the longest one needs.
int read_mask(const Call& call, const DLTensor& given, const AttentionOperands& operands, bool needs_data,
              AttentionSettings& settings) {
  constexpr const char* kRole = "options.mask";
  Tensor& mask = settings.mask;
  if (int status = check_option_dtype(call, operands.api, kRole, given.dtype, dtype_of(operands.element)))
    return status;
  settings.mask_kind = mask_kind_of(given.dtype);
  const MaskShape& shape = operands.varlen ? kMaskOfSequences : kMaskOfBatches;
  const bool per_head = given.ndim == 4;
  if (int status = read_tensor(call, kRole, given, per_head ? shape.four : shape.two, needs_data, mask))
    return status;
  const std::int64_t full[] = {operands.batch(), operands.heads(), operands.seq_q(), operands.seq_k()};
  std::int64_t expected[4];
  for (int i = 0; i < mask.rank; ++i) {
    const int dimension = 4 - mask.rank + i;
    const bool is_length = dimension >= 2, is_last = dimension == 3;
    expected[i] = full[dimension];
    if (mask.sizes[i] == 1 && !is_last) expected[i] = 1;
    // On a device lengths are out of the host's sight; what lies beyond the mask is hidden.
    if (operands.varlen && is_length)
      expected[i] = call.on_cuda() ? mask.sizes[i] : std::max(expected[i], mask.sizes[i]);
  }
  return check_sizes(call, mask, expected, per_head ? shape.of_four : shape.of_two);
}

}  // namespace

int read_attention_inputs(const Call& call, const DLTensor* const* tensors, bool needs_data,
                          AttentionOperands& operands) {
  operands.element = element_of(tensors[0]->dtype);
  const Shape query = query_shape(operands.varlen), key = key_shape(operands.varlen);
  if (int status = read_tensor(call, "q", *tensors[0], query, needs_data, operands.q)) return status;
  if (int status = read_tensor(call, "k", *tensors[1], key, needs_data, operands.k)) return status;
  if (int status = read_tensor(call, "v", *tensors[2], key, needs_data, operands.v)) return status;
  if (int status = check_heads(call, operands.q, operands.k)) return status;
  if (int status = check_sizes(call, operands.v, operands.k.sizes, "(the shape of k)")) return status;
  if (!operands.varlen) return FLASH_REF_OK;
  Offsets &q = operands.q_offsets, &k = operands.k_offsets;
  if (int status = read_offsets(call, "cu_seqlens_q", *tensors[3], operands.q.sizes[0], "total_q", q))
    return status;
  if (int status = read_offsets(call, "cu_seqlens_k", *tensors[4], operands.k.sizes[0], "total_k", k))
    return status;
  return check_sizes(call, k.tensor, q.tensor.sizes, "(the shape of cu_seqlens_q)");
}

int read_out(const Call& call, const char* role, const DLTensor& given, const AttentionOperands& operands,
             Tensor& out) {
  if (int status = read_tensor(call, role, given, query_shape(operands.varlen), true, out)) return status;
  return check_sizes(call, out, operands.q.sizes, "(the shape of q)");
}

int read_lse(const Call& call, const DLTensor& given, AttentionOperands& operands) {
  const std::int64_t* q = operands.q.sizes;
  const bool varlen = operands.varlen;
  const Shape shape = varlen ? Shape{2, "(heads, total_q)"} : Shape{3, "(batch, heads, seq_q)"};
  if (int status = read_tensor(call, "lse", given, shape, true, operands.lse)) return status;
  const std::int64_t of_sequences[] = {q[1], q[0]}, of_batches[] = {q[0], q[2], q[1]};
  return check_sizes(call, operands.lse, varlen ? of_sequences : of_batches,
                     varlen ? "(heads and total_q of q)" : "(batch, heads and seq_q of q)");
}

int read_attention_outputs(const Call& call, const DLTensor& out, const DLTensor* lse,
                           AttentionOperands& operands) {
  const Tensor &q_offsets = operands.q_offsets.tensor, &k_offsets = operands.k_offsets.tensor;
  if (int status = read_out(call, "out", out, operands, operands.out)) return status;
  if (int status =
          check_output(call, operands.out, {&operands.q, &operands.k, &operands.v, &q_offsets, &k_offsets}))
    return status;
  if (lse == nullptr) return FLASH_REF_OK;
  if (int status = read_lse(call, *lse, operands)) return status;
  return check_output(call, operands.lse,
                      {&operands.q, &operands.k, &operands.v, &q_offsets, &k_offsets, &operands.out});
}

int read_settings(const Call& call, const flash_ref_attention_options* given,
                  const AttentionOperands& operands, bool needs_data, AttentionSettings& settings) {
  if (int status = read_attention_options(call, operands.api, given, operands.batch(), operands.heads(),
                                          needs_data, settings))
    return status;
  if (settings.options.mask == nullptr) return FLASH_REF_OK;
  return read_mask(call, *settings.options.mask, operands, needs_data, settings);
}

int check_workspace(const Call& call, const AttentionOperands& operands, const AttentionSettings& settings) {
  return check_workspace(
      call, settings.options,
      {&operands.q, &operands.k, &operands.v, &operands.q_offsets.tensor, &operands.k_offsets.tensor,
       &operands.out, &operands.lse, &settings.slopes, &settings.mask});
}

int check_forward_memory(const Call& call, const AttentionOperands& operands,
                         const AttentionSettings& settings) {
  for (const Tensor* output : {&operands.out, &operands.lse}) {
    if (int status = check_output(call, *output, {&settings.slopes, &settings.mask})) return status;
  }
  return check_workspace(call, operands, settings);
}

void set_strides(const Tensor& tensor, Strides4& strides) {
  strides[0] = 0;
  std::copy_n(tensor.strides, tensor.rank, strides + 4 - tensor.rank);
}

AttentionProblem make_attention_problem(const AttentionOperands& operands,
                                        const AttentionSettings& settings) {
  AttentionProblem problem{};
  problem.element = operands.element;
  problem.q = operands.q.data;
  problem.k = operands.k.data;
  problem.v = operands.v.data;
  problem.out = operands.out.data;
  problem.lse = reinterpret_cast<float*>(operands.lse.data);
  set_strides(operands.q, problem.q_strides);
  set_strides(operands.k, problem.k_strides);
  set_strides(operands.v, problem.v_strides);
  set_strides(operands.out, problem.out_strides);
  std::copy_n(operands.lse.strides, operands.lse.rank, problem.lse_strides + 3 - operands.lse.rank);
  problem.batch = operands.batch();
  problem.seq_q = operands.seq_q();
  problem.seq_k = operands.seq_k();
  problem.heads = operands.heads();
  problem.kv_heads = operands.k.sizes[operands.k.rank - 2];
  problem.dim = operands.q.sizes[operands.q.rank - 1];
  if (operands.varlen) {
    problem.q_offsets = operands.q_offsets.data();
    problem.k_offsets = operands.k_offsets.data();
    problem.q_offsets_stride = operands.q_offsets.tensor.strides[0];
    problem.k_offsets_stride = operands.k_offsets.tensor.strides[0];
  }
  apply_options(settings, problem);
  return problem;
}

}  // namespace flash_ref
