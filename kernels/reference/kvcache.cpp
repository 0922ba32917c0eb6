#include "kernels/reference/kvcache.h"

#include <algorithm>

#include "kernels/reference/rotary.h"

namespace flash_ref::reference {
namespace {

using Numbers = std::vector<double>;

// Rows [first, first + count) of a table whose rows have `width` numbers.
Numbers rows(const Numbers& table, std::int64_t first, std::int64_t count, std::int64_t width) {
  return {table.begin() + first * width, table.begin() + (first + count) * width};
}

// `x` is (rows, heads, dim); its row i is rotated as position first + i * step.
template <class Rotate>
Numbers rotated(const KvCacheCase& sizes, const KvCacheInputs& inputs, Numbers x, std::int64_t count,
                std::int64_t heads, std::int64_t first, std::int64_t step, Rotate rotate) {
  if (sizes.pairs == 0) return x;
  RotaryInputs rotary{std::move(x), {}, {}};
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t entry = (first + i * step) * sizes.pairs;
    rotary.cos.insert(rotary.cos.end(), inputs.cos.begin() + entry, inputs.cos.begin() + entry + sizes.pairs);
    rotary.sin.insert(rotary.sin.end(), inputs.sin.begin() + entry, inputs.sin.begin() + entry + sizes.pairs);
  }
  return rotate(RotaryCase{1, count, heads, sizes.dim, sizes.pairs, sizes.interleaved}, rotary);
}

template <class Rotate, class Attend>
KvCacheResult with_cache(const KvCacheCase& sizes, const KvCacheInputs& inputs, Rotate rotate,
                         Attend attend) {
  KvCacheResult result{{}, {}, inputs.k_cache, inputs.v_cache};
  const std::int64_t key = sizes.kv_heads * sizes.dim, query = sizes.heads * sizes.dim;
  for (std::int64_t b = 0; b < sizes.batch(); ++b) {
    const std::int64_t cached = sizes.cached[static_cast<std::size_t>(b)], length = cached + sizes.seq_new;

    const Numbers new_keys = rotated(sizes, inputs, rows(inputs.k, b * sizes.seq_new, sizes.seq_new, key),
                                     sizes.seq_new, sizes.kv_heads, cached, 1, rotate);
    const Numbers new_values = rows(inputs.v, b * sizes.seq_new, sizes.seq_new, key);
    const std::int64_t place = (b * sizes.capacity + cached) * key;
    std::copy(new_keys.begin(), new_keys.end(), result.k_cache.begin() + place);
    std::copy(new_values.begin(), new_values.end(), result.v_cache.begin() + place);

    AttentionInputs sequence;
    sequence.q = rotated(sizes, inputs, rows(inputs.q, b * sizes.seq_q, sizes.seq_q, query), sizes.seq_q,
                         sizes.heads, cached, sizes.queries_advance() ? 1 : 0, rotate);
    sequence.k = rows(result.k_cache, b * sizes.capacity, length, key);
    sequence.v = rows(result.v_cache, b * sizes.capacity, length, key);
    if (!inputs.slopes.empty()) sequence.slopes = rows(inputs.slopes, b, 1, sizes.heads);
    AttentionCase attention{1, sizes.seq_q, length, sizes.heads, sizes.kv_heads, sizes.dim};
    attention.causal = sizes.causal;
    attention.scale = sizes.scale;
    attention.softcap = sizes.softcap;
    attention.window = sizes.window;
    const AttentionResult attended = attend(attention, sequence);
    result.out.insert(result.out.end(), attended.out.begin(), attended.out.end());
    result.lse.insert(result.lse.end(), attended.lse.begin(), attended.lse.end());
  }
  return result;
}

}  // namespace

KvCacheResult kvcache_fp64(const KvCacheCase& sizes, const KvCacheInputs& inputs) {
  return with_cache(sizes, inputs, rotary_fp64, attention_fp64);
}

KvCacheResult kvcache_naive(const KvCacheCase& sizes, const KvCacheInputs& inputs, NumberFormat format) {
  return with_cache(
      sizes, inputs,
      [format](const RotaryCase& rotary, const RotaryInputs& x) { return rotary_naive(rotary, x, format); },
      [format](const AttentionCase& attention, const AttentionInputs& sequence) {
        return attention_naive(attention, sequence, format);
      });
}

}  // namespace flash_ref::reference
