// flash_ref_attention_fwd: arguments to problem, problem to backend.
#include <algorithm>
#include <string_view>

#include "kernels/launch/attention_call.h"
#include "kernels/launch/dtype_check.h"
#include "kernels/launch/flash_ref_contract.h"
#include "kernels/launch/observer.h"

namespace flash_ref {
namespace {

static_assert(has_roles(kFlashRefAttentionFwd, "q", "k", "v", "out", "lse"),
              "rules/contracts/flash_ref.json and the C signature differ");

static_assert(std::string_view(kFlashRefAttentionFwd.operands[0].accepted_names) == "float16 or bfloat16",
              "cpu::attention_fwd needs an instance for each accepted dtype");

constexpr int kInputs = 3;  // q, k, v lead the operands

struct Operands {
  Tensor q, k, v, out, lse;
};

int read_inputs(const Call& call, const DLTensor* const* tensors, bool needs_data, Operands& operands) {
  const Shape query{4, "(batch, seq_q, heads, dim)"}, key{4, "(batch, seq_k, kv_heads, dim)"};
  if (int status = read_tensor(call, "q", *tensors[0], query, needs_data, operands.q)) return status;
  if (int status = read_tensor(call, "k", *tensors[1], key, needs_data, operands.k)) return status;
  if (int status = read_tensor(call, "v", *tensors[2], key, needs_data, operands.v)) return status;
  if (int status = check_heads(call, operands.q, operands.k)) return status;
  return check_sizes(call, operands.v, operands.k.sizes, "(the shape of k)");
}

int read_outputs(const Call& call, const DLTensor& out, const DLTensor* lse, Operands& operands) {
  const std::int64_t* q = operands.q.sizes;
  if (int status = read_tensor(call, "out", out, {4, "(batch, seq_q, heads, dim)"}, true, operands.out))
    return status;
  if (int status = check_sizes(call, operands.out, q, "(the shape of q)")) return status;
  if (int status = check_output(call, operands.out, {&operands.q, &operands.k, &operands.v})) return status;
  if (lse == nullptr) return FLASH_REF_OK;
  if (int status = read_tensor(call, "lse", *lse, {3, "(batch, heads, seq_q)"}, true, operands.lse))
    return status;
  const std::int64_t expected[] = {q[0], q[2], q[1]};
  if (int status = check_sizes(call, operands.lse, expected, "(batch, heads and seq_q of q)")) return status;
  return check_output(call, operands.lse, {&operands.q, &operands.k, &operands.v, &operands.out});
}

AttentionProblem make_problem(const Operands& operands, Element element, const AttentionSettings& settings) {
  AttentionProblem problem{};
  problem.element = element;
  problem.q = operands.q.data;
  problem.k = operands.k.data;
  problem.v = operands.v.data;
  problem.out = operands.out.data;
  problem.lse = reinterpret_cast<float*>(operands.lse.data);
  std::copy_n(operands.q.strides, 4, problem.q_strides);
  std::copy_n(operands.k.strides, 4, problem.k_strides);
  std::copy_n(operands.v.strides, 4, problem.v_strides);
  std::copy_n(operands.out.strides, 4, problem.out_strides);
  std::copy_n(operands.lse.strides, 3, problem.lse_strides);
  problem.batch = operands.q.sizes[0];
  problem.seq_q = operands.q.sizes[1];
  problem.heads = operands.q.sizes[2];
  problem.dim = operands.q.sizes[3];
  problem.seq_k = operands.k.sizes[1];
  problem.kv_heads = operands.k.sizes[2];
  apply_options(settings, problem);
  return problem;
}

int attention_fwd(const DLTensor* q, const DLTensor* k, const DLTensor* v, DLTensor* out, DLTensor* lse,
                  const flash_ref_attention_options* options) {
  const Call call("flash_ref_attention_fwd");
  const DLTensor* const tensors[] = {q, k, v, out, lse};
  Operands operands;
  AttentionSettings settings;
  if (int status = check_dtypes(call, kFlashRefAttentionFwd, tensors, 5)) return status;
  if (int status = read_inputs(call, tensors, true, operands)) return status;
  if (int status = read_outputs(call, *out, lse, operands)) return status;
  const std::int64_t* sizes = operands.q.sizes;
  if (int status = read_attention_options(call, options, sizes[0], sizes[2], true, settings)) return status;
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

int flash_ref_attention_fwd(const DLTensor* q, const DLTensor* k, const DLTensor* v, DLTensor* out,
                            DLTensor* lse, const flash_ref_attention_options* options) {
  return observed(kFlashRefAttentionFwd, attention_fwd, options, q, k, v, out, lse);
}

int flash_ref_attention_fwd_workspace(const DLTensor* q, const DLTensor* k, const DLTensor* v,
                                      const flash_ref_attention_options* options, size_t* bytes) {
  const Call call("flash_ref_attention_fwd_workspace");
  const DLTensor* const tensors[] = {q, k, v};
  Operands operands;
  AttentionSettings settings;
  if (int status = check_dtypes(call, kFlashRefAttentionFwd, tensors, kInputs)) return status;
  if (bytes == nullptr) return call.fail(FLASH_REF_NULL_ARGUMENT, "bytes is NULL");
  if (int status = read_inputs(call, tensors, false, operands)) return status;
  const std::int64_t* sizes = operands.q.sizes;
  if (int status = read_attention_options(call, options, sizes[0], sizes[2], false, settings)) return status;
  *bytes = attention_workspace(make_problem(operands, element_of(q->dtype), settings));
  return FLASH_REF_OK;
}
