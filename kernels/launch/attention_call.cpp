#include "kernels/launch/attention_call.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "kernels/cpu/kernels.h"
#include "kernels/cuda/backend.h"
#include "kernels/launch/dtype_check.h"
#include "kernels/launch/options.h"
#include "kernels/launch/overlap.h"
#include "kernels/launch/scratch.h"

namespace flash_ref {
namespace {

// Beyond these, products of the options with log2(e) and with each other would leave float32.
constexpr float kLargestFactor = 1e30F, kSmallestCap = 1e-6F;

constexpr std::size_t kFirstSize = offsetof(flash_ref_attention_options, softcap);  // in ABI version 1

int read_slopes(const Call& call, const ApiRule& api, const DLTensor& given, std::int64_t batch,
                std::int64_t heads, bool needs_data, Tensor& slopes) {
  constexpr const char* kRole = "options.alibi_slopes";
  if (int status = check_option_dtype(call, api, kRole, given.dtype)) return status;
  const bool per_batch = given.ndim == 2;
  const Shape shape = per_batch ? Shape{2, "(batch, heads)"} : Shape{1, "(heads) or (batch, heads)"};
  if (int status = read_tensor(call, kRole, given, shape, needs_data, slopes)) return status;
  const std::int64_t expected[] = {batch, heads};
  return check_sizes(call, slopes, per_batch ? expected : expected + 1,
                     per_batch ? "(batch and heads of q)" : "(heads of q)");
}

}  // namespace

int read_attention_options(const Call& call, const ApiRule& api, const flash_ref_attention_options* given,
                           std::int64_t batch, std::int64_t heads, bool needs_data,
                           AttentionSettings& settings) {
  flash_ref_attention_options& options = settings.options;
  if (int status =
          read_options(call, given, kFirstSize, sizeof options, "flash_ref_attention_options", &options))
    return status;
  if (int status = check_switch(call, "causal", options.causal)) return status;
  if (!(std::abs(options.softmax_scale) <= kLargestFactor)) {
    return call.fail(FLASH_REF_BAD_OPTIONS, "options.softmax_scale is %g; expected a number of at most %g",
                     static_cast<double>(options.softmax_scale), static_cast<double>(kLargestFactor));
  }
  const bool capped = options.softcap != 0;
  if (capped && !(options.softcap >= kSmallestCap && options.softcap <= kLargestFactor)) {
    return call.fail(FLASH_REF_BAD_OPTIONS, "options.softcap is %g; expected 0 or a number from %g to %g",
                     static_cast<double>(options.softcap), static_cast<double>(kSmallestCap),
                     static_cast<double>(kLargestFactor));
  }
  if (int status = check_common_members(call, options.workspace, options.workspace_bytes, options.reserved))
    return status;
  if (options.alibi_slopes != nullptr) {
    if (int status = read_slopes(call, api, *options.alibi_slopes, batch, heads, needs_data, settings.slopes))
      return status;
  }
  return check_isa(call);
}

int check_heads(const Call& call, const Tensor& q, const Tensor& k) {
  const int rank = q.rank;
  const std::int64_t heads = q.sizes[rank - 2], dim = q.sizes[rank - 1], kv_heads = k.sizes[rank - 2];
  if (dim > kLargestDim) {
    return call.fail(FLASH_REF_BAD_SHAPE, "q has shape %s; dim can be %lld at most",
                     TupleText(q.sizes, rank).c_str(), static_cast<long long>(kLargestDim));
  }
  if ((rank == 4 && k.sizes[0] != q.sizes[0]) || k.sizes[rank - 1] != dim) {
    return call.fail(FLASH_REF_BAD_SHAPE, "k has shape %s; expected the %s of q, which has shape %s",
                     TupleText(k.sizes, rank).c_str(), rank == 4 ? "batch and dim" : "dim",
                     TupleText(q.sizes, rank).c_str());
  }
  if (kv_heads == 0 ? heads != 0 : heads % kv_heads != 0) {
    return call.fail(FLASH_REF_BAD_SHAPE, "k has %lld heads; expected a divisor of the %lld heads of q",
                     static_cast<long long>(kv_heads), static_cast<long long>(heads));
  }
  return FLASH_REF_OK;
}

int check_output(const Call& call, const Tensor& out, std::initializer_list<const Tensor*> others) {
  if (int status = check_own_memory(call, out)) return status;
  for (const Tensor* other : others) {
    if (int status = check_apart(call, out, *other)) return status;
  }
  return FLASH_REF_OK;
}

void apply_options(const AttentionSettings& settings, AttentionProblem& problem) {
  const flash_ref_attention_options& options = settings.options;
  problem.causal = options.causal != 0;
  problem.scale = options.softmax_scale;
  if (problem.scale == 0)
    problem.scale = 1.0F / std::sqrt(static_cast<float>(std::max<std::int64_t>(problem.dim, 1)));
  problem.softcap = options.softcap;
  problem.window = options.window;
  problem.mask = settings.mask.data;
  problem.mask_kind = settings.mask_kind;
  if (settings.mask.role != nullptr) {
    std::copy_n(settings.mask.strides, settings.mask.rank, problem.mask_strides + 4 - settings.mask.rank);
    std::copy_n(settings.mask.sizes + settings.mask.rank - 2, 2, problem.mask_sizes);
  }
  if (settings.slopes.role == nullptr) return;
  problem.slopes = reinterpret_cast<const float*>(settings.slopes.data);
  problem.slope_strides[0] = settings.slopes.rank == 2 ? settings.slopes.strides[0] : 0;
  problem.slope_strides[1] = settings.slopes.strides[settings.slopes.rank - 1];
}

int solve_attention(const Call& call, const AttentionProblem& problem,
                    const flash_ref_attention_options& options) {
  if (call.on_cuda()) return cuda::attention_fwd(call, problem, place_of(call, options));
  return with_scratch(call, options, cpu::attention_shared_bytes(problem),
                      cpu::attention_scratch_bytes(problem), cpu::attention_threads(problem),
                      [&](void* memory, int threads) { cpu::attention_fwd(problem, memory, threads); });
}

std::size_t attention_workspace(const Call& call, const AttentionProblem& problem) {
  if (call.on_cuda()) return 0;
  return workspace_for(cpu::attention_shared_bytes(problem), cpu::attention_scratch_bytes(problem),
                       cpu::attention_threads(problem));
}

}  // namespace flash_ref
