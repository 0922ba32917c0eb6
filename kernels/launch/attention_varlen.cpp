// flash_ref_attention_varlen_fwd: arguments to problem, problem to backend.
#include "kernels/launch/attention_operands.h"
#include "kernels/launch/dtype_check.h"
#include "kernels/launch/flash_ref_contract.h"
#include "kernels/launch/observer.h"

namespace flash_ref {
namespace {

static_assert(has_roles(kFlashRefAttentionVarlenFwd, "q", "k", "v", "cu_seqlens_q", "cu_seqlens_k", "out",
                        "lse"),
              "rules/contracts/flash_ref.json and the C signature differ");

constexpr int kInputs = 5;  // lead the operands

int attention_varlen_fwd(const DLTensor* q, const DLTensor* k, const DLTensor* v,
                         const DLTensor* cu_seqlens_q, const DLTensor* cu_seqlens_k, DLTensor* out,
                         DLTensor* lse, const flash_ref_attention_options* options) {
  const Call call("flash_ref_attention_varlen_fwd");
  const DLTensor* const tensors[] = {q, k, v, cu_seqlens_q, cu_seqlens_k, out, lse};
  AttentionOperands operands(kFlashRefAttentionVarlenFwd, true);
  AttentionSettings settings;
  if (int status = check_dtypes(call, kFlashRefAttentionVarlenFwd, tensors, 7)) return status;
  if (int status = read_attention_inputs(call, tensors, true, operands)) return status;
  if (int status = read_attention_outputs(call, *out, lse, operands)) return status;
  if (int status = read_settings(call, options, operands, true, settings)) return status;
  if (int status = check_forward_memory(call, operands, settings)) return status;
  if (operands.out.empty() && (lse == nullptr || operands.lse.empty())) return FLASH_REF_OK;
  return solve_attention(call, make_attention_problem(operands, settings), settings.options);
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
  AttentionOperands operands(kFlashRefAttentionVarlenFwd, true);
  AttentionSettings settings;
  if (int status = check_dtypes(call, kFlashRefAttentionVarlenFwd, tensors, kInputs)) return status;
  if (bytes == nullptr) return call.fail(FLASH_REF_NULL_ARGUMENT, "bytes is NULL");
  if (int status = read_attention_inputs(call, tensors, false, operands)) return status;
  if (int status = read_settings(call, options, operands, false, settings)) return status;
  *bytes = attention_workspace(call, make_attention_problem(operands, settings));
  return FLASH_REF_OK;
}
