// flash_ref_attention_fwd: arguments to problem, problem to backend.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "kernels/cpu/kernels.h"
#include "kernels/launch/dtype_check.h"
#include "kernels/launch/flash_ref_contract.h"
#include "kernels/launch/options.h"
#include "kernels/launch/tensor.h"

namespace flash_ref {
namespace {

static_assert(has_roles(kFlashRefAttentionFwd, "q", "k", "v", "out", "lse"),
              "rules/contracts/flash_ref.json and the C signature differ");

static_assert(std::string_view(kFlashRefAttentionFwd.operands[0].accepted_names) == "float16 or bfloat16",
              "cpu::attention_fwd needs an instance for each accepted dtype");

constexpr int kInputs = 3;  // q, k, v lead the operands
constexpr std::int64_t kLargestDim = std::int64_t{1} << 20;
constexpr std::size_t kAlignment = 64;

struct Operands {
  Tensor q, k, v, out, lse;
};

int read_settings(const Call& call, const flash_ref_attention_options* given,
                  flash_ref_attention_options& options) {
  // sizeof is right for the first size as long as the struct has not grown.
  if (int status =
          read_options(call, given, sizeof options, sizeof options, "flash_ref_attention_options", &options))
    return status;
  if (int status = check_switch(call, "causal", options.causal)) return status;
  if (!std::isfinite(options.softmax_scale)) {
    return call.fail(FLASH_REF_BAD_OPTIONS, "options.softmax_scale is %g; expected a finite number",
                     static_cast<double>(options.softmax_scale));
  }
  if (int status = check_common_members(call, options.workspace, options.workspace_bytes, options.reserved))
    return status;
  return check_isa(call);
}

int read_inputs(const Call& call, const DLTensor* const* tensors, bool needs_data, Operands& operands) {
  const Shape query{4, "(batch, seq_q, heads, dim)"}, key{4, "(batch, seq_k, kv_heads, dim)"};
  if (int status = read_tensor(call, "q", *tensors[0], query, needs_data, operands.q)) return status;
  if (int status = read_tensor(call, "k", *tensors[1], key, needs_data, operands.k)) return status;
  if (int status = read_tensor(call, "v", *tensors[2], key, needs_data, operands.v)) return status;
  const std::int64_t* q = operands.q.sizes;
  const std::int64_t* k = operands.k.sizes;
  if (q[3] > kLargestDim) {
    return call.fail(FLASH_REF_BAD_SHAPE, "q has shape %s; dim can be %lld at most", TupleText(q, 4).c_str(),
                     static_cast<long long>(kLargestDim));
  }
  if (k[0] != q[0] || k[3] != q[3]) {
    return call.fail(FLASH_REF_BAD_SHAPE,
                     "k has shape %s; expected the batch and dim of q, which has shape %s",
                     TupleText(k, 4).c_str(), TupleText(q, 4).c_str());
  }
  if (k[2] == 0 ? q[2] != 0 : q[2] % k[2] != 0) {
    return call.fail(FLASH_REF_BAD_SHAPE, "k has %lld heads; expected a divisor of the %lld heads of q",
                     static_cast<long long>(k[2]), static_cast<long long>(q[2]));
  }
  return check_sizes(call, operands.v, k, "(the shape of k)");
}

int read_outputs(const Call& call, const DLTensor& out, const DLTensor* lse, Operands& operands) {
  const std::int64_t* q = operands.q.sizes;
  if (int status = read_tensor(call, "out", out, {4, "(batch, seq_q, heads, dim)"}, true, operands.out))
    return status;
  if (int status = check_sizes(call, operands.out, q, "(the shape of q)")) return status;
  if (int status = check_own_memory(call, operands.out)) return status;
  for (const Tensor* input : {&operands.q, &operands.k, &operands.v}) {
    if (int status = check_apart(call, operands.out, *input)) return status;
  }
  if (lse == nullptr) return FLASH_REF_OK;
  if (int status = read_tensor(call, "lse", *lse, {3, "(batch, heads, seq_q)"}, true, operands.lse))
    return status;
  const std::int64_t expected[] = {q[0], q[2], q[1]};
  if (int status = check_sizes(call, operands.lse, expected, "(batch, heads and seq_q of q)")) return status;
  if (int status = check_own_memory(call, operands.lse)) return status;
  for (const Tensor* other : {&operands.q, &operands.k, &operands.v, &operands.out}) {
    if (int status = check_apart(call, operands.lse, *other)) return status;
  }
  return FLASH_REF_OK;
}

AttentionProblem make_problem(const Operands& operands, Element element,
                              const flash_ref_attention_options& options) {
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
  problem.causal = options.causal != 0;
  problem.scale = options.softmax_scale;
  if (problem.scale == 0)
    problem.scale = 1.0F / std::sqrt(static_cast<float>(std::max<std::int64_t>(problem.dim, 1)));
  return problem;
}

// The caller's workspace with as many threads as fit into it, or one that lives for the call.
int solve_on_cpu(const Call& call, const AttentionProblem& problem,
                 const flash_ref_attention_options& options) {
  const std::size_t scratch = cpu::attention_scratch_bytes(problem);
  int threads = cpu::attention_threads(problem);
  if (scratch == 0) return FLASH_REF_OK;
  if (options.workspace == nullptr) {
    const std::unique_ptr<void, decltype(&std::free)> memory(
        std::aligned_alloc(kAlignment, scratch * static_cast<std::size_t>(threads)), &std::free);
    if (memory == nullptr) {
      return call.fail(FLASH_REF_OUT_OF_MEMORY, "no workspace was given and %zu bytes could not be allocated",
                       scratch * static_cast<std::size_t>(threads));
    }
    cpu::attention_fwd(problem, memory.get(), threads);
    return FLASH_REF_OK;
  }
  void* memory = options.workspace;
  std::size_t bytes = options.workspace_bytes;
  if (std::align(kAlignment, scratch, memory, bytes) == nullptr) {
    return call.fail(FLASH_REF_BAD_WORKSPACE, "options.workspace_bytes is %zu; expected at least %zu",
                     options.workspace_bytes, scratch + kAlignment - 1);
  }
  threads = static_cast<int>(std::min(bytes / scratch, static_cast<std::size_t>(threads)));
  cpu::attention_fwd(problem, memory, threads);
  return FLASH_REF_OK;
}

}  // namespace
}  // namespace flash_ref

using namespace flash_ref;

int flash_ref_attention_fwd(const DLTensor* q, const DLTensor* k, const DLTensor* v, DLTensor* out,
                            DLTensor* lse, const flash_ref_attention_options* options) {
  const Call call("flash_ref_attention_fwd");
  const DLTensor* const tensors[] = {q, k, v, out, lse};
  Operands operands;
  flash_ref_attention_options settings;
  if (int status = check_dtypes(call, kFlashRefAttentionFwd, tensors, 5)) return status;
  if (int status = read_inputs(call, tensors, true, operands)) return status;
  if (int status = read_outputs(call, *out, lse, operands)) return status;
  if (int status = read_settings(call, options, settings)) return status;
  if (operands.out.empty() && (lse == nullptr || operands.lse.empty())) return FLASH_REF_OK;
  return solve_on_cpu(call, make_problem(operands, element_of(q->dtype), settings), settings);
}

int flash_ref_attention_fwd_workspace(const DLTensor* q, const DLTensor* k, const DLTensor* v,
                                      const flash_ref_attention_options* options, size_t* bytes) {
  const Call call("flash_ref_attention_fwd_workspace");
  const DLTensor* const tensors[] = {q, k, v};
  Operands operands;
  flash_ref_attention_options settings;
  if (int status = check_dtypes(call, kFlashRefAttentionFwd, tensors, kInputs)) return status;
  if (bytes == nullptr) return call.fail(FLASH_REF_NULL_ARGUMENT, "bytes is NULL");
  if (int status = read_inputs(call, tensors, false, operands)) return status;
  if (int status = read_settings(call, options, settings)) return status;
  const AttentionProblem problem = make_problem(operands, element_of(q->dtype), settings);
  const std::size_t scratch = cpu::attention_scratch_bytes(problem);
  const auto threads = static_cast<std::size_t>(cpu::attention_threads(problem));
  *bytes = scratch == 0 ? 0 : scratch * threads + kAlignment - 1;
  return FLASH_REF_OK;
}
