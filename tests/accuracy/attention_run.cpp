#include "tests/accuracy/attention_run.h"

#include <cmath>
#include <limits>
#include <sstream>

namespace flash_ref_test {

using flash_ref::reference::AttentionCase;
using flash_ref::reference::AttentionInputs;
using flash_ref::reference::AttentionResult;

AttentionCall::AttentionCall(const AttentionCase& the_sizes, TestDtype the_dtype, AttentionLayouts layouts)
    : sizes(the_sizes),
      dtype(the_dtype),
      q({sizes.batch, sizes.seq_q, sizes.heads, sizes.dim}, dtype, layouts.q),
      k({sizes.batch, sizes.seq_k, sizes.kv_heads, sizes.dim}, dtype, layouts.k),
      v({sizes.batch, sizes.seq_k, sizes.kv_heads, sizes.dim}, dtype, layouts.v),
      out({sizes.batch, sizes.seq_q, sizes.heads, sizes.dim}, dtype, layouts.out),
      lse({sizes.batch, sizes.heads, sizes.seq_q}, kFloat32, layouts.lse),
      slopes({sizes.batch, sizes.heads}, kFloat32,
             layouts.lse == Layout::kCompact ? Layout::kCompact : Layout::kPadded),
      mask_layout(layouts.k) {}

void AttentionCall::fill(const AttentionInputs& inputs) {
  q.set(inputs.q);
  k.set(inputs.k);
  v.set(inputs.v);
  has_slopes = !inputs.slopes.empty();
  if (has_slopes) slopes.set(inputs.slopes);
  if (inputs.mask.empty()) return;
  const std::vector<std::int64_t> shape = {sizes.batch, sizes.heads, sizes.seq_q, sizes.seq_k};
  const bool boolean = mask_as == MaskAs::kTruths;
  mask = std::make_unique<TestTensor>(shape,
                                      boolean                      ? kBool
                                      : mask_as == MaskAs::kFloats ? kFloat32
                                                                   : dtype,
                                      mask_layout);
  if (!boolean) return mask->set(inputs.mask);
  for (std::size_t i = 0; i < inputs.mask.size(); ++i) mask->set_bits(i, inputs.mask[i] == 0 ? 1 : 0);
}

int AttentionCall::run(const flash_ref_attention_options& options) {
  return flash_ref_attention_fwd(&q, &k, &v, &out, &lse, &options);
}

int AttentionCall::run() { return run(options()); }

flash_ref_attention_options AttentionCall::options() {
  flash_ref_attention_options options{};
  options.struct_size = sizeof options;
  options.causal = sizes.causal ? 1 : 0;
  options.softmax_scale = static_cast<float>(sizes.scale);
  options.softcap = static_cast<float>(sizes.softcap);
  options.window = static_cast<std::uint32_t>(sizes.window);
  if (has_slopes) options.alibi_slopes = &slopes;
  if (mask != nullptr) options.mask = mask->descriptor();
  return options;
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

void add_extras(const AttentionCase& sizes, TestDtype dtype, Extras extras, std::mt19937& random,
                AttentionInputs& inputs) {
  if (extras.alibi) {
    for (std::int64_t i = 0; i < sizes.batch * sizes.heads; ++i) {
      inputs.slopes.push_back(std::ldexp(1.0, static_cast<int>(-1 - i % 8)));
    }
  }
  if (extras.mask == MaskAs::kNothing) return;
  const auto rows = static_cast<std::size_t>(sizes.batch * sizes.heads * sizes.seq_q);
  const auto keys = static_cast<std::size_t>(sizes.seq_k);
  const std::vector<double> numbers = random_values(random, rows * keys, dtype);
  for (std::size_t i = 0; i < rows * keys; ++i) {
    const bool hidden = random() % 4 == 0 || i / keys == rows / 2;
    const double number = extras.mask == MaskAs::kTruths || random() % 4 != 0 ? 0.0 : numbers[i];
    inputs.mask.push_back(hidden ? -std::numeric_limits<double>::infinity() : number);
  }
}

std::string check_attention(const AttentionCase& sizes, TestDtype dtype, std::uint32_t seed,
                            AttentionLayouts layouts, double spread, Extras extras) {
  std::mt19937 random(seed);
  AttentionInputs inputs = random_inputs(sizes, dtype, random, spread);
  add_extras(sizes, dtype, extras, random, inputs);
  AttentionCall call(sizes, dtype, layouts);
  call.mask_as = extras.mask;
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
