#include "tests/accuracy/kvcache_run.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

namespace flash_ref_test {

using flash_ref::reference::KvCacheCase;
using flash_ref::reference::KvCacheInputs;
using flash_ref::reference::KvCacheResult;

namespace {

constexpr std::int64_t kSparePages = 3;  // that no sequence has

std::int64_t pages_for(const KvCacheCase& sizes, Placement placement) {
  return placement.kind != Placement::kPaged
             ? 1
             : (sizes.capacity + placement.page_size - 1) / placement.page_size;
}

std::vector<std::int64_t> cache_shape(const KvCacheCase& sizes, Placement placement) {
  const std::int64_t size = placement.kind == Placement::kPaged ? placement.page_size : sizes.capacity;
  const std::int64_t spare = placement.kind == Placement::kByBatch ? 0 : kSparePages;
  return {sizes.batch() * pages_for(sizes, placement) + spare, size, sizes.kv_heads, sizes.dim};
}

std::vector<std::int64_t> table_shape(const KvCacheCase& sizes, Placement placement) {
  if (placement.kind == Placement::kPaged) return {sizes.batch(), pages_for(sizes, placement)};
  return {sizes.batch()};
}

}  // namespace

KvCacheCall::KvCacheCall(const KvCacheCase& the_sizes, TestDtype the_dtype, Placement the_placement)
    : sizes(the_sizes),
      dtype(the_dtype),
      placement(the_placement),
      page_size(cache_shape(sizes, placement)[1]),
      pages_of_sequence(pages_for(sizes, placement)),
      pages(static_cast<std::size_t>(cache_shape(sizes, placement)[0])),
      q({sizes.batch(), sizes.seq_q, sizes.heads, sizes.dim}, dtype, placement.layout),
      k_cache(cache_shape(sizes, placement), dtype, placement.layout),
      v_cache(cache_shape(sizes, placement), dtype, placement.layout),
      k({sizes.batch(), sizes.seq_new, sizes.kv_heads, sizes.dim}, dtype, placement.layout),
      v({sizes.batch(), sizes.seq_new, sizes.kv_heads, sizes.dim}, dtype, placement.layout),
      cos({sizes.positions, sizes.pairs}, dtype, placement.layout),
      sin({sizes.positions, sizes.pairs}, dtype, placement.layout),
      seqlens({sizes.batch()}, kInt32, placement.layout),
      table(table_shape(sizes, placement), kInt32, placement.layout),
      out({sizes.batch(), sizes.seq_q, sizes.heads, sizes.dim}, dtype, placement.layout),
      lse({sizes.batch(), sizes.heads, sizes.seq_q}, kFloat32, placement.layout),
      slopes({sizes.batch(), sizes.heads}, kFloat32) {
  std::iota(pages.begin(), pages.end(), 0);
  if (placement.kind != Placement::kByBatch) {
    std::shuffle(pages.begin(), pages.end(), std::mt19937(static_cast<std::uint32_t>(sizes.capacity)));
    for (std::size_t i = 0; i < table.size(); ++i) table.set_bits(i, static_cast<std::uint32_t>(pages[i]));
  }
}

std::size_t KvCacheCall::place(std::int64_t b, std::int64_t key, std::int64_t i) const {
  const std::int64_t page = pages[static_cast<std::size_t>(b * pages_of_sequence + key / page_size)];
  return static_cast<std::size_t>((page * page_size + key % page_size) * sizes.kv_heads * sizes.dim + i);
}

void KvCacheCall::fill(const KvCacheInputs& inputs) {
  q.set(inputs.q);
  k.set(inputs.k);
  v.set(inputs.v);
  cos.set(inputs.cos);
  sin.set(inputs.sin);
  has_slopes = !inputs.slopes.empty();
  if (has_slopes) slopes.set(inputs.slopes);
  const std::vector<double> nothing(k_cache.size(), std::nan(""));
  k_cache.set(nothing);
  v_cache.set(nothing);
  const std::int64_t row = sizes.kv_heads * sizes.dim;
  for (std::int64_t b = 0; b < sizes.batch(); ++b) {
    const std::int64_t cached = sizes.cached[static_cast<std::size_t>(b)];
    seqlens.set_bits(static_cast<std::size_t>(b), static_cast<std::uint32_t>(cached));
    for (std::int64_t i = 0; i < cached * row; ++i) {
      const auto from = static_cast<std::size_t>(b * sizes.capacity * row + i);
      k_cache.set_bits(place(b, i / row, i % row), encode(dtype.format, inputs.k_cache[from]));
      v_cache.set_bits(place(b, i / row, i % row), encode(dtype.format, inputs.v_cache[from]));
    }
  }
}

flash_ref_kvcache_options KvCacheCall::options() const {
  flash_ref_kvcache_options options{};
  options.struct_size = sizeof options;
  options.causal = sizes.causal ? 1 : 0;
  options.softmax_scale = static_cast<float>(sizes.scale);
  options.softcap = static_cast<float>(sizes.softcap);
  options.window = static_cast<std::uint32_t>(sizes.window);
  options.interleaved = sizes.interleaved ? 1 : 0;
  return options;
}

int KvCacheCall::run(const flash_ref_kvcache_options& given) {
  flash_ref_kvcache_options all = given;
  if (has_slopes) all.alibi_slopes = &slopes;
  const bool stores = sizes.seq_new > 0, rotates = sizes.pairs > 0;
  const DLTensor* const new_k = stores ? &k : nullptr;
  const DLTensor* const new_v = stores ? &v : nullptr;
  const DLTensor* const cosines = rotates ? &cos : nullptr;
  const DLTensor* const sines = rotates ? &sin : nullptr;
  const DLTensor* const places = placement.kind == Placement::kByIndex ? &table : nullptr;
  const DLTensor* const pages_table = placement.kind == Placement::kPaged ? &table : nullptr;
  const auto workspace = device_workspace(all, [&](std::size_t* bytes) {
    return flash_ref_attention_kvcache_workspace(&q, &k_cache, &v_cache, new_k, new_v, cosines, sines,
                                                 &seqlens, places, pages_table, &all, bytes);
  });
  return flash_ref_attention_kvcache(&q, &k_cache, &v_cache, new_k, new_v, cosines, sines, &seqlens, places,
                                     pages_table, &out, &lse, &all);
}

std::size_t KvCacheCall::workspace_bytes(const flash_ref_kvcache_options& options, bool with_data) {
  DLTensor tensors[] = {q.tensor(),   k_cache.tensor(), v_cache.tensor(), k.tensor(),    v.tensor(),
                        cos.tensor(), sin.tensor(),     seqlens.tensor(), table.tensor()};
  if (!with_data) {
    for (DLTensor& tensor : tensors) tensor.data = nullptr;
  }
  const bool given[] = {true,
                        true,
                        true,
                        sizes.seq_new > 0,
                        sizes.seq_new > 0,
                        sizes.pairs > 0,
                        sizes.pairs > 0,
                        true,
                        placement.kind == Placement::kByIndex,
                        placement.kind == Placement::kPaged};
  const DLTensor* of[10];
  for (int i = 0; i < 10; ++i) of[i] = given[i] ? &tensors[std::min(i, 8)] : nullptr;
  std::size_t bytes = 0;
  const int status = flash_ref_attention_kvcache_workspace(of[0], of[1], of[2], of[3], of[4], of[5], of[6],
                                                           of[7], of[8], of[9], &options, &bytes);
  return status == FLASH_REF_OK ? bytes : 0;
}

std::vector<double> KvCacheCall::logical(const TestTensor& cache) const {
  const std::vector<double> stored = cache.values();
  const std::int64_t row = sizes.kv_heads * sizes.dim;
  std::vector<double> result(static_cast<std::size_t>(sizes.batch() * sizes.capacity * row), std::nan(""));
  for (std::int64_t b = 0; b < sizes.batch(); ++b) {
    const std::int64_t length = sizes.cached[static_cast<std::size_t>(b)] + sizes.seq_new;
    for (std::int64_t i = 0; i < length * row; ++i) {
      result[static_cast<std::size_t>(b * sizes.capacity * row + i)] = stored[place(b, i / row, i % row)];
    }
  }
  return result;
}

std::size_t KvCacheCall::changed_elsewhere(const TestTensor& cache,
                                           const std::vector<std::uint32_t>& before) const {
  std::vector<std::uint32_t> after = cache.all_bits();
  const std::int64_t row = sizes.kv_heads * sizes.dim;
  for (std::int64_t b = 0; b < sizes.batch(); ++b) {
    const std::int64_t cached = sizes.cached[static_cast<std::size_t>(b)];
    for (std::int64_t i = 0; i < sizes.seq_new * row; ++i) {
      const std::size_t at = place(b, cached + i / row, i % row);
      after[at] = before[at];
    }
  }
  std::size_t count = 0;
  for (std::size_t i = 0; i < after.size(); ++i) count += after[i] != before[i] ? 1 : 0;
  return count;
}

KvCacheInputs random_inputs(const KvCacheCase& sizes, TestDtype dtype, std::mt19937& random) {
  const auto count = [&](std::int64_t rows, std::int64_t heads) {
    return static_cast<std::size_t>(sizes.batch() * rows * heads * sizes.dim);
  };
  KvCacheInputs inputs;
  inputs.q = random_values(random, count(sizes.seq_q, sizes.heads), dtype);
  inputs.k_cache = random_values(random, count(sizes.capacity, sizes.kv_heads), dtype);
  inputs.v_cache = random_values(random, count(sizes.capacity, sizes.kv_heads), dtype);
  inputs.k = random_values(random, count(sizes.seq_new, sizes.kv_heads), dtype);
  inputs.v = random_values(random, count(sizes.seq_new, sizes.kv_heads), dtype);
  for (std::int64_t i = 0; i < sizes.positions * sizes.pairs; ++i) {
    const double angle = static_cast<double>(i / std::max<std::int64_t>(sizes.pairs, 1)) *
                         std::pow(0.7, static_cast<double>(i % std::max<std::int64_t>(sizes.pairs, 1)));
    inputs.cos.push_back(round_to(dtype.format, std::cos(angle)));
    inputs.sin.push_back(round_to(dtype.format, std::sin(angle)));
  }
  return inputs;
}

std::string describe(const KvCacheCase& sizes, TestDtype dtype, Placement placement) {
  std::ostringstream text;
  text << dtype.name << ", cached";
  for (std::int64_t cached : sizes.cached) text << ' ' << cached;
  text << " of " << sizes.capacity << ", seq_q " << sizes.seq_q << ", seq_new " << sizes.seq_new << ", heads "
       << sizes.heads << "/" << sizes.kv_heads << ", dim " << sizes.dim << ", pairs " << sizes.pairs
       << (sizes.interleaved ? " interleaved" : "") << (sizes.causal ? ", causal" : "") << ", softcap "
       << sizes.softcap << ", window " << sizes.window << ", placement " << placement.kind << ", page "
       << placement.page_size << ", layout " << static_cast<int>(placement.layout);
  return text.str();
}

namespace {

// What a cache holds after the call where there are keys: all of `actual` that is a number.
std::string judge_keys(const std::vector<double>& actual, const std::vector<double>& exact,
                       const std::vector<double>& naive, TestDtype dtype) {
  std::vector<double> a, e, n;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (std::isnan(actual[i])) continue;
    a.push_back(actual[i]);
    e.push_back(exact[i]);
    n.push_back(naive[i]);
  }
  return judge(a, e, n, dtype);
}

// Against the oracle on the numbers that attention saw: rotated ones are rounded before, which moves lse by
// more than the rule allows, so the oracle gets the stored keys, and queries rotated alike.
std::string judge_rotated_lse(const KvCacheCall& call, KvCacheInputs inputs, const KvCacheResult& exact) {
  KvCacheCase seen = call.sizes;
  if (seen.pairs == 0) return judge_lse(call.lse.values(), exact.lse);
  for (std::int64_t b = 0; b < seen.batch(); ++b) {
    for (std::int64_t i = 0; i < seen.seq_q; ++i) {
      const std::int64_t row = seen.heads * seen.dim, at = (b * seen.seq_q + i) * row;
      const std::int64_t position =
          seen.cached[static_cast<std::size_t>(b)] + (seen.queries_advance() ? i : 0);
      TestTensor x({1, 1, seen.heads, seen.dim}, call.dtype), cos({1, seen.pairs}, call.dtype),
          sin({1, seen.pairs}, call.dtype);
      const auto slice = [](const std::vector<double>& from, std::int64_t first, std::int64_t count) {
        return std::vector<double>(from.begin() + first, from.begin() + first + count);
      };
      x.set(slice(inputs.q, at, row));
      cos.set(slice(inputs.cos, position * seen.pairs, seen.pairs));
      sin.set(slice(inputs.sin, position * seen.pairs, seen.pairs));
      flash_ref_rotary_options options{};
      options.struct_size = sizeof options;
      options.interleaved = seen.interleaved ? 1 : 0;
      if (flash_ref_rotary(&x, &cos, &sin, &x, &options) != FLASH_REF_OK) return flash_ref_last_error();
      const std::vector<double> rotated = x.values();
      std::copy(rotated.begin(), rotated.end(), inputs.q.begin() + at);
    }
  }
  inputs.k_cache = call.logical(call.k_cache);
  inputs.v_cache = call.logical(call.v_cache);
  for (std::int64_t& cached : seen.cached) cached += seen.seq_new;
  seen.seq_new = seen.pairs = 0;
  return judge_lse(call.lse.values(), kvcache_fp64(seen, inputs).lse);
}

}  // namespace

std::string check_kvcache(const KvCacheCase& sizes, TestDtype dtype, std::uint32_t seed, Placement placement,
                          bool alibi, std::uint32_t splits) {
  std::mt19937 random(seed);
  KvCacheInputs inputs = random_inputs(sizes, dtype, random);
  for (std::int64_t i = 0; alibi && i < sizes.batch() * sizes.heads; ++i) {
    inputs.slopes.push_back(std::ldexp(1.0, static_cast<int>(-1 - i % 8)));
  }
  KvCacheCall call(sizes, dtype, placement);
  call.fill(inputs);
  const auto k_before = call.k_cache.all_bits(), v_before = call.v_cache.all_bits();
  flash_ref_kvcache_options options = call.options();
  options.num_splits = splits;
  if (call.run(options) != FLASH_REF_OK) return flash_ref_last_error();
  const KvCacheResult exact = kvcache_fp64(sizes, inputs);
  const KvCacheResult naive = kvcache_naive(sizes, inputs, dtype.format);
  std::string problem =
      judge(call.out.values(), exact.out, naive.out, dtype) + judge_rotated_lse(call, inputs, exact);
  problem += judge_keys(call.logical(call.k_cache), exact.k_cache, naive.k_cache, dtype);
  const auto values = call.logical(call.v_cache);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isnan(values[i]) && values[i] != exact.v_cache[i]) problem += "a stored value is not v's; ";
  }
  if (call.changed_elsewhere(call.k_cache, k_before) != 0) problem += "a store to another key of k_cache; ";
  if (call.changed_elsewhere(call.v_cache, v_before) != 0) problem += "a store to another key of v_cache; ";
  const bool guarded = call.out.guards_intact() && call.lse.guards_intact() && call.k_cache.guards_intact() &&
                       call.v_cache.guards_intact();
  if (!guarded) problem += "a store beside a tensor; ";
  return problem;
}

}  // namespace flash_ref_test
