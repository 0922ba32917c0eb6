#include "kernels/launch/kvcache_call.h"

#include <algorithm>

#include "kernels/launch/flash_ref_contract.h"
#include "kernels/launch/options.h"
#include "kernels/launch/overlap.h"

namespace flash_ref {
namespace {

using Operands = KvCacheOperands;

constexpr const char* kRoles[Operands::kCount] = {
    "q",   "k_cache",   "v_cache",         "k",           "v",   "cos",
    "sin", "seqlens_k", "cache_batch_idx", "block_table", "out", "lse"};

// "At most n": more ranges than this are never worth their rows, and the rows' bytes must not overflow.
constexpr std::uint32_t kMostSplits = 4096;

constexpr const char* kCacheShape = "(cache_batch, capacity, kv_heads, dim)";
constexpr const char* kPagedShape = "(pages, page_size, kv_heads, dim)";

Shape shape_of(Operands::Role role, bool paged) {
  switch (role) {
    case Operands::kQ:
    case Operands::kOut:
      return {4, "(batch, seq_q, heads, dim)"};
    case Operands::kKCache:
    case Operands::kVCache:
      return {4, paged ? kPagedShape : kCacheShape};
    case Operands::kK:
    case Operands::kV:
      return {4, "(batch, seq_new, kv_heads, dim)"};
    case Operands::kCos:
    case Operands::kSin:
      return {2, "(positions, rotary_dim / 2)"};
    case Operands::kBlockTable:
      return {2, "(batch, pages_of_sequence)"};
    case Operands::kLse:
      return {3, "(batch, heads, seq_q)"};
    default:
      return {1, "(batch)"};
  }
}

// Which optional operands call for which.
int check_company(const Call& call, const DLTensor* const* tensors) {
  const auto given = [&](Operands::Role role) { return tensors[role] != nullptr; };
  const auto need = [&](Operands::Role missing, const char* reason) {
    return call.fail(FLASH_REF_NULL_ARGUMENT, "%s is NULL; expected a tensor, since %s", kRoles[missing],
                     reason);
  };
  if (given(Operands::kK) && !given(Operands::kV)) return need(Operands::kV, "k is given");
  if (given(Operands::kV) && !given(Operands::kK)) return need(Operands::kK, "v is given");
  if (given(Operands::kCos) && !given(Operands::kSin)) return need(Operands::kSin, "cos is given");
  if (given(Operands::kSin) && !given(Operands::kCos)) return need(Operands::kCos, "sin is given");
  if (given(Operands::kCos) && !given(Operands::kK)) return need(Operands::kK, "cos and sin are given");
  if (given(Operands::kK) && !given(Operands::kSeqlensK)) return need(Operands::kSeqlensK, "k is given");
  if (given(Operands::kCacheBatchIdx) && given(Operands::kBlockTable)) {
    return call.fail(FLASH_REF_BAD_SHAPE,
                     "cache_batch_idx and block_table are both given; expected one of them to be NULL");
  }
  return FLASH_REF_OK;
}

int check_heads_of_cache(const Call& call, const Operands& operands) {
  const Tensor &q = operands[Operands::kQ], &cache = operands[Operands::kKCache];
  const std::int64_t heads = q.sizes[2], dim = q.sizes[3], kv_heads = cache.sizes[2];
  if (dim > kLargestDim) {
    return call.fail(FLASH_REF_BAD_SHAPE, "q has shape %s; dim can be %lld at most",
                     TupleText(q.sizes, 4).c_str(), static_cast<long long>(kLargestDim));
  }
  if (cache.sizes[3] != dim) {
    return call.fail(FLASH_REF_BAD_SHAPE, "k_cache has shape %s; expected the dim of q, which has shape %s",
                     TupleText(cache.sizes, 4).c_str(), TupleText(q.sizes, 4).c_str());
  }
  if (kv_heads == 0 ? heads != 0 : heads % kv_heads != 0) {
    return call.fail(FLASH_REF_BAD_SHAPE, "k_cache has %lld heads; expected a divisor of the %lld heads of q",
                     static_cast<long long>(kv_heads), static_cast<long long>(heads));
  }
  const bool by_batch = !operands.paged() && !operands.has(Operands::kCacheBatchIdx);
  if (by_batch && cache.sizes[0] != q.sizes[0]) {
    return call.fail(FLASH_REF_BAD_SHAPE,
                     "k_cache has shape %s; expected the batch of q, %lld, without cache_batch_idx and "
                     "block_table",
                     TupleText(cache.sizes, 4).c_str(), static_cast<long long>(q.sizes[0]));
  }
  return FLASH_REF_OK;
}

int check_new_keys(const Call& call, const Operands& operands) {
  if (!operands.has(Operands::kK)) return FLASH_REF_OK;
  const Tensor &q = operands[Operands::kQ], &cache = operands[Operands::kKCache], &k = operands[Operands::kK];
  const std::int64_t expected[] = {q.sizes[0], k.sizes[1], cache.sizes[2], cache.sizes[3]};
  if (int status = check_sizes(call, k, expected, "(batch of q, kv_heads and dim of k_cache)")) return status;
  return check_sizes(call, operands[Operands::kV], k.sizes, "(the shape of k)");
}

int check_tables(const Call& call, const Operands& operands) {
  if (!operands.has(Operands::kCos)) return FLASH_REF_OK;
  const Tensor& cos = operands[Operands::kCos];
  const std::int64_t dim = operands[Operands::kQ].sizes[3];
  if (cos.sizes[1] > dim / 2) {
    return call.fail(FLASH_REF_BAD_SHAPE,
                     "cos has shape %s; expected (positions, rotary_dim / 2) with rotary_dim <= %lld",
                     TupleText(cos.sizes, 2).c_str(), static_cast<long long>(dim));
  }
  return check_sizes(call, operands[Operands::kSin], cos.sizes, "(the shape of cos)");
}

int check_batches(const Call& call, const Operands& operands) {
  const std::int64_t batch = operands[Operands::kQ].sizes[0];
  for (Operands::Role role : {Operands::kSeqlensK, Operands::kCacheBatchIdx, Operands::kBlockTable}) {
    const Tensor& tensor = operands[role];
    if (!operands.has(role) || tensor.sizes[0] == batch) continue;
    return call.fail(FLASH_REF_BAD_SHAPE, "%s has shape %s; expected %s with the batch of q, %lld",
                     kRoles[role], TupleText(tensor.sizes, tensor.rank).c_str(), shape_of(role, false).sizes,
                     static_cast<long long>(batch));
  }
  return FLASH_REF_OK;
}

}  // namespace

std::int64_t KvCacheOperands::capacity() const {
  if (!paged()) return page_size();
  std::int64_t keys = 0;
  const bool overflows = __builtin_mul_overflow(tensors[kBlockTable].sizes[1], page_size(), &keys);
  return overflows ? kMostElements : std::min(keys, kMostElements);
}

int read_kvcache_inputs(const Call& call, const DLTensor* const* tensors, bool needs_data,
                        KvCacheOperands& operands) {
  if (int status = check_company(call, tensors)) return status;
  const bool paged = tensors[Operands::kBlockTable] != nullptr;
  for (int i = 0; i < Operands::kOut; ++i) {
    if (tensors[i] == nullptr) continue;
    const Shape shape = shape_of(static_cast<Operands::Role>(i), paged);
    if (int status = read_tensor(call, kRoles[i], *tensors[i], shape, needs_data, operands.tensors[i]))
      return status;
  }
  if (int status = check_heads_of_cache(call, operands)) return status;
  if (int status = check_sizes(call, operands[Operands::kVCache], operands[Operands::kKCache].sizes,
                               "(the shape of k_cache)"))
    return status;
  if (int status = check_new_keys(call, operands)) return status;
  if (int status = check_tables(call, operands)) return status;
  return check_batches(call, operands);
}

int read_kvcache_outputs(const Call& call, const DLTensor* const* tensors, KvCacheOperands& operands) {
  const std::int64_t* q = operands[Operands::kQ].sizes;
  const std::int64_t rows[] = {q[0], q[2], q[1]};
  for (Operands::Role role : {Operands::kOut, Operands::kLse}) {
    if (tensors[role] == nullptr) continue;
    Tensor& tensor = operands[role];
    if (int status = read_tensor(call, kRoles[role], *tensors[role], shape_of(role, false), true, tensor))
      return status;
    if (int status =
            check_sizes(call, tensor, role == Operands::kOut ? q : rows,
                        role == Operands::kOut ? "(the shape of q)" : "(batch, heads and seq_q of q)"))
      return status;
  }
  // What is written lies apart from all that is not itself. The caches are written where there are new keys.
  const bool stores = operands.has(Operands::kK);
  for (int i = 0; i < Operands::kCount; ++i) {
    const bool cache = i == Operands::kKCache || i == Operands::kVCache;
    if (i != Operands::kOut && i != Operands::kLse && !(cache && stores)) continue;
    if (int status = check_own_memory(call, operands.tensors[i])) return status;
    for (int j = 0; j < Operands::kCount; ++j) {
      if (i == j) continue;
      if (int status = check_apart(call, operands.tensors[i], operands.tensors[j])) return status;
    }
  }
  return FLASH_REF_OK;
}

int read_kvcache_options(const Call& call, const flash_ref_kvcache_options* given,
                         const KvCacheOperands& operands, bool needs_data, KvCacheSettings& settings) {
  flash_ref_kvcache_options options;
  if (int status =
          read_options(call, given, sizeof options, sizeof options, "flash_ref_kvcache_options", &options))
    return status;
  if (int status = check_switch(call, "interleaved", options.interleaved)) return status;
  settings.interleaved = options.interleaved != 0;
  settings.splits = std::min(options.num_splits, kMostSplits);
  flash_ref_attention_options common{};
  common.struct_size = sizeof common;
  common.causal = options.causal;
  common.stream = options.stream;
  common.workspace = options.workspace;
  common.workspace_bytes = options.workspace_bytes;
  common.softmax_scale = options.softmax_scale;
  common.reserved = options.reserved;
  common.softcap = options.softcap;
  common.window = options.window;
  common.alibi_slopes = options.alibi_slopes;
  const std::int64_t* q = operands[Operands::kQ].sizes;
  if (int status = read_attention_options(call, kFlashRefAttentionKvcache, &common, q[0], q[2], needs_data,
                                          settings.attention))
    return status;
  for (const Tensor& output : operands.tensors) {
    const bool cache = &output == &operands[Operands::kKCache] || &output == &operands[Operands::kVCache];
    const bool written = &output == &operands[Operands::kOut] || &output == &operands[Operands::kLse] ||
                         (cache && operands.has(Operands::kK));
    if (!written) continue;
    if (int status = check_apart(call, output, settings.attention.slopes)) return status;
  }
  for (const Tensor& tensor : operands.tensors) {
    if (int status = check_workspace(call, options, {&tensor, &settings.attention.slopes})) return status;
  }
  return FLASH_REF_OK;
}

}  // namespace flash_ref
