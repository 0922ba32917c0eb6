// flash_ref_attention_varlen_fwd: arguments to problem, problem to backend.
#include <algorithm>

#include "kernels/launch/attention_call.h"
#include "kernels/launch/dtype_check.h"
#include "kernels/launch/flash_ref_contract.h"
#include "kernels/launch/observer.h"

namespace flash_ref {
namespace {

static_assert(has_roles(kFlashRefAttentionVarlenFwd, "q", "k", "v", "cu_seqlens_q", "cu_seqlens_k", "out",
                        "lse"),
              "rules/contracts/flash_ref.json and the C signature differ");

constexpr int kInputs = 5;  // lead the operands

// The rows of sequences that lie one after the other.
struct Offsets {
  Tensor tensor;
  std::int64_t longest = 0;

  const std::int32_t* data() const { return reinterpret_cast<const std::int32_t*>(tensor.data); }
  std::int32_t operator[](std::int64_t i) const { return data()[i * tensor.strides[0]]; }
};

struct Operands {
  Tensor q, k, v, out, lse;
  Offsets q_offsets, k_offsets;
  std::int64_t batch() const { return q_offsets.tensor.sizes[0] - 1; }
};

int read_offsets(const Call& call, const char* role, const DLTensor& given, std::int64_t total,
                 const char* total_name, Offsets& offsets) {
  if (int status = read_tensor(call, role, given, {1, "(batch + 1)"}, true, offsets.tensor)) return status;
  const std::int64_t count = offsets.tensor.sizes[0];
  if (count == 0) return call.fail(FLASH_REF_BAD_SHAPE, "%s has shape (0); expected (batch + 1)", role);
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

int read_inputs(const Call& call, const DLTensor* const* tensors, bool needs_data, Operands& operands) {
  const Shape query{3, "(total_q, heads, dim)"}, key{3, "(total_k, kv_heads, dim)"};
  if (int status = read_tensor(call, "q", *tensors[0], query, needs_data, operands.q)) return status;
  if (int status = read_tensor(call, "k", *tensors[1], key, needs_data, operands.k)) return status;
  if (int status = read_tensor(call, "v", *tensors[2], key, needs_data, operands.v)) return status;
  if (int status = check_heads(call, operands.q, operands.k)) return status;
  if (int status = check_sizes(call, operands.v, operands.k.sizes, "(the shape of k)")) return status;
  Offsets &q = operands.q_offsets, &k = operands.k_offsets;
  if (int status = read_offsets(call, "cu_seqlens_q", *tensors[3], operands.q.sizes[0], "total_q", q))
    return status;
  if (int status = read_offsets(call, "cu_seqlens_k", *tensors[4], operands.k.sizes[0], "total_k", k))
    return status;
  return check_sizes(call, k.tensor, q.tensor.sizes, "(the shape of cu_seqlens_q)");
}

int read_outputs(const Call& call, const DLTensor& out, const DLTensor* lse, Operands& operands) {
  const std::int64_t* q = operands.q.sizes;
  const Tensor &q_offsets = operands.q_offsets.tensor, &k_offsets = operands.k_offsets.tensor;
  if (int status = read_tensor(call, "out", out, {3, "(total_q, heads, dim)"}, true, operands.out))
    return status;
  if (int status = check_sizes(call, operands.out, q, "(the shape of q)")) return status;
  if (int status =
          check_output(call, operands.out, {&operands.q, &operands.k, &operands.v, &q_offsets, &k_offsets}))
    return status;
  if (lse == nullptr) return FLASH_REF_OK;
  if (int status = read_tensor(call, "lse", *lse, {2, "(heads, total_q)"}, true, operands.lse)) return status;
  const std::int64_t expected[] = {q[1], q[0]};
  if (int status = check_sizes(call, operands.lse, expected, "(heads and total_q of q)")) return status;
  return check_output(call, operands.lse,
                      {&operands.q, &operands.k, &operands.v, &q_offsets, &k_offsets, &operands.out});
}

// (row, head, dim) of a tensor, under a batch that takes no steps.
void set_strides(const Tensor& tensor, Strides4& strides) {
  strides[0] = 0;
  std::copy_n(tensor.strides, 3, strides + 1);
}

AttentionProblem make_problem(const Operands& operands, Element element, const AttentionSettings& settings) {
  AttentionProblem problem{};
  problem.element = element;
  problem.q = operands.q.data;
  problem.k = operands.k.data;
  problem.v = operands.v.data;
  problem.out = operands.out.data;
  problem.lse = reinterpret_cast<float*>(operands.lse.data);
  set_strides(operands.q, problem.q_strides);
  set_strides(operands.k, problem.k_strides);
  set_strides(operands.v, problem.v_strides);
  set_strides(operands.out, problem.out_strides);
  std::copy_n(operands.lse.strides, 2, problem.lse_strides + 1);
  problem.batch = operands.batch();
  problem.seq_q = operands.q_offsets.longest;
  problem.seq_k = operands.k_offsets.longest;
  problem.heads = operands.q.sizes[1];
  problem.kv_heads = operands.k.sizes[1];
  problem.dim = operands.q.sizes[2];
  problem.q_offsets = operands.q_offsets.data();
  problem.k_offsets = operands.k_offsets.data();
  problem.q_offsets_stride = operands.q_offsets.tensor.strides[0];
  problem.k_offsets_stride = operands.k_offsets.tensor.strides[0];
  apply_options(settings, problem);
  return problem;
}

int attention_varlen_fwd(const DLTensor* q, const DLTensor* k, const DLTensor* v,
                         const DLTensor* cu_seqlens_q, const DLTensor* cu_seqlens_k, DLTensor* out,
                         DLTensor* lse, const flash_ref_attention_options* options) {
  const Call call("flash_ref_attention_varlen_fwd");
  const DLTensor* const tensors[] = {q, k, v, cu_seqlens_q, cu_seqlens_k, out, lse};
  Operands operands;
  AttentionSettings settings;
  if (int status = check_dtypes(call, kFlashRefAttentionVarlenFwd, tensors, 7)) return status;
  if (int status = read_inputs(call, tensors, true, operands)) return status;
  if (int status = read_outputs(call, *out, lse, operands)) return status;
  const std::int64_t heads = operands.q.sizes[1];
  if (int status = read_attention_options(call, options, operands.batch(), heads, true, settings))
    return status;
  for (const Tensor* output : {&operands.out, &operands.lse}) {
    if (int status = check_output(call, *output, {&settings.slopes})) return status;
  }
  if (operands.out.empty() && (lse == nullptr || operands.lse.empty())) return FLASH_REF_OK;
  return solve_attention_on_cpu(call, make_problem(operands, element_of(q->dtype), settings),
                                settings.options);
}

}  // namespace
}  // namespace flash_ref

using namespace flash_ref;

int flash_ref_attention_varlen_fwd(const DLTensor* q, const DLTensor* k, const DLTensor* v,
                                   const DLTensor* cu_seqlens_q, const DLTensor* cu_seqlens_k, DLTensor* out,
                                   DLTensor* lse, const flash_ref_attention_options* options) {
  return observed(kFlashRefAttentionVarlenFwd, attention_varlen_fwd, options, q, k, v, cu_seqlens_q,
                  cu_seqlens_k, out, lse);
}

int flash_ref_attention_varlen_fwd_workspace(const DLTensor* q, const DLTensor* k, const DLTensor* v,
                                             const DLTensor* cu_seqlens_q, const DLTensor* cu_seqlens_k,
                                             const flash_ref_attention_options* options, size_t* bytes) {
  const Call call("flash_ref_attention_varlen_fwd_workspace");
  const DLTensor* const tensors[] = {q, k, v, cu_seqlens_q, cu_seqlens_k};
  Operands operands;
  AttentionSettings settings;
  if (int status = check_dtypes(call, kFlashRefAttentionVarlenFwd, tensors, kInputs)) return status;
  if (bytes == nullptr) return call.fail(FLASH_REF_NULL_ARGUMENT, "bytes is NULL");
  if (int status = read_inputs(call, tensors, false, operands)) return status;
  const std::int64_t heads = operands.q.sizes[1];
  if (int status = read_attention_options(call, options, operands.batch(), heads, false, settings))
    return status;
  *bytes = attention_workspace(make_problem(operands, element_of(q->dtype), settings));
  return FLASH_REF_OK;
}
