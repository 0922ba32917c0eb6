#include "tests/accuracy/attention_run.h"

#include <cmath>
#include <sstream>

namespace flash_ref_test {

using flash_ref::reference::AttentionCase;
using flash_ref::reference::AttentionInputs;
using flash_ref::reference::AttentionResult;

AttentionCall::AttentionCall(const AttentionCase& the_sizes, TestDtype dtype, AttentionLayouts layouts)
    : sizes(the_sizes),
      q({sizes.batch, sizes.seq_q, sizes.heads, sizes.dim}, dtype, layouts.q),
      k({sizes.batch, sizes.seq_k, sizes.kv_heads, sizes.dim}, dtype, layouts.k),
      v({sizes.batch, sizes.seq_k, sizes.kv_heads, sizes.dim}, dtype, layouts.v),
      out({sizes.batch, sizes.seq_q, sizes.heads, sizes.dim}, dtype, layouts.out),
      lse({sizes.batch, sizes.heads, sizes.seq_q}, kFloat32, layouts.lse),
      slopes({sizes.batch, sizes.heads}, kFloat32,
             layouts.lse == Layout::kCompact ? Layout::kCompact : Layout::kPadded) {}

void AttentionCall::fill(const AttentionInputs& inputs) {
  q.set(inputs.q);
  k.set(inputs.k);
  v.set(inputs.v);
  has_slopes = !inputs.slopes.empty();
  if (has_slopes) slopes.set(inputs.slopes);
}

int AttentionCall::run(const flash_ref_attention_options& options) {
  return flash_ref_attention_fwd(&q, &k, &v, &out, &lse, &options);
}

int AttentionCall::run() {
  flash_ref_attention_options options{};
  options.struct_size = sizeof options;
  options.causal = sizes.causal ? 1 : 0;
  options.softmax_scale = static_cast<float>(sizes.scale);
  options.softcap = static_cast<float>(sizes.softcap);
  options.window = static_cast<std::uint32_t>(sizes.window);
  if (has_slopes) options.alibi_slopes = &slopes;
  return run(options);
}

AttentionInputs random_inputs(const AttentionCase& sizes, TestDtype dtype, std::mt19937& random,
                              double spread) {
  const auto queries = static_cast<std::size_t>(sizes.batch * sizes.seq_q * sizes.heads * sizes.dim);
  const auto keys = static_cast<std::size_t>(sizes.batch * sizes.seq_k * sizes.kv_heads * sizes.dim);
  AttentionInputs inputs;
  inputs.q = random_values(random, queries, dtype, spread);
  inputs.k = random_values(random, keys, dtype, spread);
  inputs.v = random_values(random, keys, dtype, spread);
  return inputs;
}

std::string describe(const AttentionCase& sizes, TestDtype dtype) {
  std::ostringstream text;
  text << dtype.name << ", batch " << sizes.batch << ", seq_q " << sizes.seq_q << ", seq_k " << sizes.seq_k
       << ", heads " << sizes.heads << "/" << sizes.kv_heads << ", dim " << sizes.dim
       << (sizes.causal ? ", causal" : "") << ", scale " << sizes.scale << ", softcap " << sizes.softcap
       << ", window " << sizes.window;
  return text.str();
}

namespace {

// 1e-5, absolute plus relative; masked rows are -infinity on both sides.
std::string judge_lse(const std::vector<double>& actual, const std::vector<double>& exact) {
  for (std::size_t i = 0; i < exact.size(); ++i) {
    if (actual[i] == exact[i]) continue;
    if (std::abs(actual[i] - exact[i]) <= 1e-5 + 1e-5 * std::abs(exact[i])) continue;
    std::ostringstream text;
    text << "lse[" << i << "] is " << actual[i] << ", expected " << exact[i] << "; ";
    return text.str();
  }
  return "";
}

}  // namespace

std::string check_attention(const AttentionCase& sizes, TestDtype dtype, std::uint32_t seed,
                            AttentionLayouts layouts, double spread, bool alibi) {
  std::mt19937 random(seed);
  AttentionInputs inputs = random_inputs(sizes, dtype, random, spread);
  if (alibi) {
    for (std::int64_t i = 0; i < sizes.batch * sizes.heads; ++i) {
      inputs.slopes.push_back(std::ldexp(1.0, static_cast<int>(-1 - i % 8)));
    }
  }
  AttentionCall call(sizes, dtype, layouts);
  call.fill(inputs);
  if (call.run() != FLASH_REF_OK) return flash_ref_last_error();
  const AttentionResult exact = attention_fp64(sizes, inputs);
  const AttentionResult naive = attention_naive(sizes, inputs, dtype.format);
  std::string problem =
      judge(call.out.values(), exact.out, naive.out, dtype) + judge_lse(call.lse.values(), exact.lse);
  if (!call.out.guards_intact()) problem += "a store outside of out; ";
  if (!call.lse.guards_intact()) problem += "a store outside of lse; ";
  return problem;
}

}  // namespace flash_ref_test
