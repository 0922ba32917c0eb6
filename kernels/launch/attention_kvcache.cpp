// flash_ref_attention_kvcache: arguments to problem, problem to backend.
#include <algorithm>

#include "kernels/cpu/kernels.h"
#include "kernels/launch/dtype_check.h"
#include "kernels/launch/flash_ref_contract.h"
#include "kernels/launch/kvcache_call.h"
#include "kernels/launch/observer.h"
#include "kernels/launch/scratch.h"

namespace flash_ref {
namespace {

using Operands = KvCacheOperands;

static_assert(has_roles(kFlashRefAttentionKvcache, "q", "k_cache", "v_cache", "k", "v", "cos", "sin",
                        "seqlens_k", "cache_batch_idx", "block_table", "out", "lse"),
              "rules/contracts/flash_ref.json and the C signature differ");

const std::int32_t* numbers(const Tensor& tensor) {
  return reinterpret_cast<const std::int32_t*>(tensor.data);
}

AttentionProblem make_attention(const Operands& operands, Element element,
                                const AttentionSettings& settings) {
  const Tensor &q = operands[Operands::kQ], &cache = operands[Operands::kKCache];
  AttentionProblem problem{};
  problem.element = element;
  problem.q = q.data;
  problem.k = cache.data;
  problem.v = operands[Operands::kVCache].data;
  problem.out = operands[Operands::kOut].data;
  problem.lse = reinterpret_cast<float*>(operands[Operands::kLse].data);
  std::copy_n(q.strides, 4, problem.q_strides);
  std::copy_n(cache.strides, 4, problem.k_strides);
  std::copy_n(operands[Operands::kVCache].strides, 4, problem.v_strides);
  std::copy_n(operands[Operands::kOut].strides, 4, problem.out_strides);
  std::copy_n(operands[Operands::kLse].strides, 3, problem.lse_strides);
  problem.batch = q.sizes[0];
  problem.seq_q = q.sizes[1];
  problem.heads = q.sizes[2];
  problem.dim = q.sizes[3];
  problem.seq_k = operands.capacity();
  problem.kv_heads = cache.sizes[2];
  apply_options(settings, problem);
  return problem;
}

KvCacheProblem make_problem(const Operands& operands, Element element, const KvCacheSettings& settings) {
  KvCacheProblem problem{};
  problem.attention = make_attention(operands, element, settings.attention);
  const Tensor& pages = operands[operands.paged() ? Operands::kBlockTable : Operands::kCacheBatchIdx];
  problem.pages = numbers(pages);
  problem.pages_strides[0] = pages.strides[0];
  problem.pages_strides[1] = operands.paged() ? pages.strides[1] : 0;
  problem.paged = operands.paged();
  problem.page_size = operands.page_size();
  problem.cache_pages = operands[Operands::kKCache].sizes[0];
  problem.cached = numbers(operands[Operands::kSeqlensK]);
  problem.cached_stride = operands[Operands::kSeqlensK].strides[0];
  problem.new_k = operands[Operands::kK].data;
  problem.new_v = operands[Operands::kV].data;
  std::copy_n(operands[Operands::kK].strides, 4, problem.new_k_strides);
  std::copy_n(operands[Operands::kV].strides, 4, problem.new_v_strides);
  problem.seq_new = operands.seq_new();
  problem.cos = operands[Operands::kCos].data;
  problem.sin = operands[Operands::kSin].data;
  std::copy_n(operands[Operands::kCos].strides, 2, problem.cos_strides);
  std::copy_n(operands[Operands::kSin].strides, 2, problem.sin_strides);
  problem.pairs = operands[Operands::kCos].sizes[1];
  problem.table_rows = operands[Operands::kCos].sizes[0];
  problem.interleaved = settings.interleaved;
  problem.queries_advance = problem.attention.causal || problem.attention.window != 0;
  problem.splits = settings.splits;
  return problem;
}

int attention_kvcache(const DLTensor* q, DLTensor* k_cache, DLTensor* v_cache, const DLTensor* k,
                      const DLTensor* v, const DLTensor* cos, const DLTensor* sin, const DLTensor* seqlens_k,
                      const DLTensor* cache_batch_idx, const DLTensor* block_table, DLTensor* out,
                      DLTensor* lse, const flash_ref_kvcache_options* options) {
  const Call call("flash_ref_attention_kvcache");
  const DLTensor* const tensors[] = {q,   k_cache,   v_cache,         k,           v,   cos,
                                     sin, seqlens_k, cache_batch_idx, block_table, out, lse};
  KvCacheOperands operands;
  KvCacheSettings settings;
  if (int status = check_dtypes(call, kFlashRefAttentionKvcache, tensors, KvCacheOperands::kCount))
    return status;
  if (int status = read_kvcache_inputs(call, tensors, true, operands)) return status;
  if (int status = read_kvcache_outputs(call, tensors, operands)) return status;
  if (int status = read_kvcache_options(call, options, operands, true, settings)) return status;
  KvCacheProblem problem = make_problem(operands, element_of(q->dtype), settings);
  if (call.on_cuda())
    return cuda::attention_kvcache(call, problem, place_of(call, settings.attention.options));
  if (int status = check_places(call, operands, problem)) return status;
  return with_scratch(call, settings.attention.options, cpu::kvcache_shared_bytes(problem),
                      cpu::kvcache_scratch_bytes(problem), cpu::kvcache_threads(problem),
                      [&](void* memory, int threads) { cpu::attention_kvcache(problem, memory, threads); });
}

}  // namespace
}  // namespace flash_ref

using namespace flash_ref;

int flash_ref_attention_kvcache(const DLTensor* q, DLTensor* k_cache, DLTensor* v_cache, const DLTensor* k,
                                const DLTensor* v, const DLTensor* cos, const DLTensor* sin,
                                const DLTensor* seqlens_k, const DLTensor* cache_batch_idx,
                                const DLTensor* block_table, DLTensor* out, DLTensor* lse,
                                const flash_ref_kvcache_options* options) {
  return observed(kFlashRefAttentionKvcache, attention_kvcache, options, q, k_cache, v_cache, k, v, cos, sin,
                  seqlens_k, cache_batch_idx, block_table, out, lse);
}

int flash_ref_attention_kvcache_workspace(const DLTensor* q, const DLTensor* k_cache, const DLTensor* v_cache,
                                          const DLTensor* k, const DLTensor* v, const DLTensor* cos,
                                          const DLTensor* sin, const DLTensor* seqlens_k,
                                          const DLTensor* cache_batch_idx, const DLTensor* block_table,
                                          const flash_ref_kvcache_options* options, size_t* bytes) {
  const Call call("flash_ref_attention_kvcache_workspace");
  const DLTensor* const tensors[] = {q,   k_cache,   v_cache,         k,          v, cos,
                                     sin, seqlens_k, cache_batch_idx, block_table};
  KvCacheOperands operands;
  KvCacheSettings settings;
  if (int status = check_dtypes(call, kFlashRefAttentionKvcache, tensors, KvCacheOperands::kOut))
    return status;
  if (bytes == nullptr) return call.fail(FLASH_REF_NULL_ARGUMENT, "bytes is NULL");
  if (int status = read_kvcache_inputs(call, tensors, false, operands)) return status;
  if (int status = read_kvcache_options(call, options, operands, false, settings)) return status;
  const KvCacheProblem problem = make_problem(operands, element_of(q->dtype), settings);
  if (call.on_cuda()) {
    *bytes = cuda::attention_kvcache_workspace(problem);
    return FLASH_REF_OK;
  }
  *bytes = workspace_for(cpu::kvcache_shared_bytes(problem), cpu::kvcache_scratch_bytes(problem),
                         cpu::kvcache_threads(problem));
  return FLASH_REF_OK;
}
