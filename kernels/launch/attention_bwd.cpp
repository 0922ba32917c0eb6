// flash_ref_attention_bwd and flash_ref_attention_varlen_bwd: arguments to problem, problem to backend. The
// arguments are those of the forward function, then dout and the gradients.
#include <algorithm>
#include <cstring>

#include "kernels/cpu/kernels.h"
#include "kernels/launch/attention_operands.h"
#include "kernels/launch/dtype_check.h"
#include "kernels/launch/flash_ref_contract.h"
#include "kernels/launch/observer.h"
#include "kernels/launch/overlap.h"
#include "kernels/launch/scratch.h"

namespace flash_ref {
namespace {

static_assert(has_roles(kFlashRefAttentionBwd, "q", "k", "v", "out", "lse", "dout", "dq", "dk", "dv"),
              "rules/contracts/flash_ref.json and the C signature differ");
static_assert(has_roles(kFlashRefAttentionVarlenBwd, "q", "k", "v", "cu_seqlens_q", "cu_seqlens_k", "out",
                        "lse", "dout", "dq", "dk", "dv"),
              "rules/contracts/flash_ref.json and the C signature differ");

struct Gradients {
  Tensor dout, dq, dk, dv;
};

// out, lse and dout, which follow the inputs.
int read_results(const Call& call, const DLTensor* const* tensors, AttentionOperands& operands,
                 Gradients& gradients) {
  if (int status = read_out(call, "out", *tensors[0], operands, operands.out)) return status;
  if (int status = read_lse(call, *tensors[1], operands)) return status;
  return read_out(call, "dout", *tensors[2], operands, gradients.dout);
}

int read_gradient(const Call& call, const char* role, const DLTensor& given, const Tensor& of,
                  const char* reason, Tensor& gradient) {
  const Shape shape{of.rank, reason};
  if (int status = read_tensor(call, role, given, shape, true, gradient)) return status;
  return check_sizes(call, gradient, of.sizes, reason);
}

int read_gradients(const Call& call, const DLTensor* const* tensors, const AttentionOperands& operands,
                   const AttentionSettings& settings, Gradients& gradients) {
  if (int status = read_gradient(call, "dq", *tensors[0], operands.q, "(the shape of q)", gradients.dq))
    return status;
  if (int status = read_gradient(call, "dk", *tensors[1], operands.k, "(the shape of k)", gradients.dk))
    return status;
  if (int status = read_gradient(call, "dv", *tensors[2], operands.v, "(the shape of v)", gradients.dv))
    return status;
  const Tensor* outputs[] = {&gradients.dq, &gradients.dk, &gradients.dv};
  for (int i = 0; i < 3; ++i) {
    if (int status = check_output(
            call, *outputs[i],
            {&operands.q, &operands.k, &operands.v, &operands.q_offsets.tensor, &operands.k_offsets.tensor,
             &operands.out, &operands.lse, &gradients.dout, &settings.slopes, &settings.mask}))
      return status;
    for (int j = 0; j < i; ++j) {
      if (int status = check_apart(call, *outputs[i], *outputs[j])) return status;
    }
  }
  return FLASH_REF_OK;
}

AttentionBackward make_problem(const AttentionOperands& operands, const AttentionSettings& settings,
                               const Gradients& gradients) {
  AttentionBackward problem{};
  problem.forward = make_attention_problem(operands, settings);
  problem.dout = gradients.dout.data;
  problem.dq = gradients.dq.data;
  problem.dk = gradients.dk.data;
  problem.dv = gradients.dv.data;
  set_strides(gradients.dout, problem.dout_strides);
  set_strides(gradients.dq, problem.dq_strides);
  set_strides(gradients.dk, problem.dk_strides);
  set_strides(gradients.dv, problem.dv_strides);
  return problem;
}

// `tensors` in the order of the contract; the `inputs` ones of the forward function lead them.
int backward(const Call& call, const DLTensor* const* tensors, int inputs, AttentionOperands& operands,
             const flash_ref_attention_options* options) {
  Gradients gradients;
  AttentionSettings settings;
  if (int status = check_dtypes(call, operands.api, tensors, operands.api.operand_count)) return status;
  if (int status = read_attention_inputs(call, tensors, true, operands)) return status;
  if (int status = read_results(call, tensors + inputs, operands, gradients)) return status;
  if (int status = read_settings(call, options, operands, true, settings)) return status;
  if (int status = read_gradients(call, tensors + inputs + 3, operands, settings, gradients)) return status;
  if (int status = check_workspace(call, operands, settings)) return status;
  if (int status = check_workspace(call, settings.options,
                                   {&gradients.dout, &gradients.dq, &gradients.dk, &gradients.dv}))
    return status;
  const AttentionBackward problem = make_problem(operands, settings, gradients);
  if (call.on_cuda()) return cuda::attention_bwd(call, problem, place_of(call, settings.options));
  return with_scratch(call, settings.options, cpu::attention_bwd_shared_bytes(problem),
                      cpu::attention_bwd_scratch_bytes(problem), cpu::attention_bwd_threads(problem),
                      [&](void* memory, int threads) { cpu::attention_bwd(problem, memory, threads); });
}

int backward_workspace(const Call& call, const DLTensor* const* tensors, int inputs,
                       AttentionOperands& operands, const flash_ref_attention_options* options,
                       std::size_t* bytes) {
  AttentionSettings settings;
  if (int status = check_dtypes(call, operands.api, tensors, inputs)) return status;
  if (bytes == nullptr) return call.fail(FLASH_REF_NULL_ARGUMENT, "bytes is NULL");
  if (int status = read_attention_inputs(call, tensors, false, operands)) return status;
  if (int status = read_settings(call, options, operands, false, settings)) return status;
  const AttentionBackward problem = make_problem(operands, settings, {});
  if (call.on_cuda()) {
    *bytes = cuda::attention_bwd_workspace(problem);
    return FLASH_REF_OK;
  }
  *bytes = workspace_for(cpu::attention_bwd_shared_bytes(problem), cpu::attention_bwd_scratch_bytes(problem),
                         cpu::attention_bwd_threads(problem));
  return FLASH_REF_OK;
}

int attention_bwd(const DLTensor* q, const DLTensor* k, const DLTensor* v, const DLTensor* out,
                  const DLTensor* lse, const DLTensor* dout, DLTensor* dq, DLTensor* dk, DLTensor* dv,
                  const flash_ref_attention_options* options) {
  const DLTensor* const tensors[] = {q, k, v, out, lse, dout, dq, dk, dv};
  AttentionOperands operands(kFlashRefAttentionBwd, false);
  return backward(Call("flash_ref_attention_bwd"), tensors, 3, operands, options);
}

int attention_varlen_bwd(const DLTensor* q, const DLTensor* k, const DLTensor* v,
                         const DLTensor* cu_seqlens_q, const DLTensor* cu_seqlens_k, const DLTensor* out,
                         const DLTensor* lse, const DLTensor* dout, DLTensor* dq, DLTensor* dk, DLTensor* dv,
                         const flash_ref_attention_options* options) {
  const DLTensor* const tensors[] = {q, k, v, cu_seqlens_q, cu_seqlens_k, out, lse, dout, dq, dk, dv};
  AttentionOperands operands(kFlashRefAttentionVarlenBwd, true);
  return backward(Call("flash_ref_attention_varlen_bwd"), tensors, 5, operands, options);
}

}  // namespace
}  // namespace flash_ref

using namespace flash_ref;

int flash_ref_attention_bwd(const DLTensor* q, const DLTensor* k, const DLTensor* v, const DLTensor* out,
                            const DLTensor* lse, const DLTensor* dout, DLTensor* dq, DLTensor* dk,
                            DLTensor* dv, const flash_ref_attention_options* options) {
  return observed(kFlashRefAttentionBwd, attention_bwd, options, q, k, v, out, lse, dout, dq, dk, dv);
}

int flash_ref_attention_bwd_workspace(const DLTensor* q, const DLTensor* k, const DLTensor* v,
                                      const flash_ref_attention_options* options, size_t* bytes) {
  const DLTensor* const tensors[] = {q, k, v};
  AttentionOperands operands(kFlashRefAttentionBwd, false);
  return backward_workspace(Call("flash_ref_attention_bwd_workspace"), tensors, 3, operands, options, bytes);
}

int flash_ref_attention_varlen_bwd(const DLTensor* q, const DLTensor* k, const DLTensor* v,
                                   const DLTensor* cu_seqlens_q, const DLTensor* cu_seqlens_k,
                                   const DLTensor* out, const DLTensor* lse, const DLTensor* dout,
                                   DLTensor* dq, DLTensor* dk, DLTensor* dv,
                                   const flash_ref_attention_options* options) {
  return observed(kFlashRefAttentionVarlenBwd, attention_varlen_bwd, options, q, k, v, cu_seqlens_q,
                  cu_seqlens_k, out, lse, dout, dq, dk, dv);
}

int flash_ref_attention_varlen_bwd_workspace(const DLTensor* q, const DLTensor* k, const DLTensor* v,
                                             const DLTensor* cu_seqlens_q, const DLTensor* cu_seqlens_k,
                                             const flash_ref_attention_options* options, size_t* bytes) {
  const DLTensor* const tensors[] = {q, k, v, cu_seqlens_q, cu_seqlens_k};
  AttentionOperands operands(kFlashRefAttentionVarlenBwd, true);
  return backward_workspace(Call("flash_ref_attention_varlen_bwd_workspace"), tensors, 5, operands, options,
                            bytes);
}
