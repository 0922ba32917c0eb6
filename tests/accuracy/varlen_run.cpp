#include "tests/accuracy/varlen_run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>

namespace flash_ref_test {

using flash_ref::reference::AttentionCase;
using flash_ref::reference::AttentionInputs;
using flash_ref::reference::AttentionResult;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Lengths = std::vector<std::int64_t>;

std::int64_t longest(const Lengths& lengths) {
  return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
}

Lengths firsts(const Lengths& lengths) {
  Lengths result = {0};
  for (std::int64_t length : lengths) result.push_back(result.back() + length);
  return result;
}

std::vector<double> rows_of(const TestTensor& all, std::int64_t first, std::int64_t rows, std::int64_t row) {
  std::vector<double> result;
  for (std::int64_t i = first * row; i < (first + rows) * row; ++i)
    result.push_back(all.value(static_cast<std::size_t>(i)));
  return result;
}

}  // namespace

std::int64_t VarlenCase::total_q() const { return std::accumulate(q_lengths.begin(), q_lengths.end(), 0L); }
std::int64_t VarlenCase::total_k() const { return std::accumulate(k_lengths.begin(), k_lengths.end(), 0L); }
std::int64_t VarlenCase::longest_q() const { return longest(q_lengths); }
std::int64_t VarlenCase::longest_k() const { return longest(k_lengths); }

AttentionCase VarlenCase::alone(std::size_t b) const {
  return {1, q_lengths[b], k_lengths[b], heads, kv_heads, dim, causal, 0, softcap, window};
}

VarlenCall::VarlenCall(const VarlenCase& the_sizes, TestDtype the_dtype, Layout layout)
    : sizes(the_sizes),
      dtype(the_dtype),
      first_q(firsts(sizes.q_lengths)),
      first_k(firsts(sizes.k_lengths)),
      q({sizes.total_q(), sizes.heads, sizes.dim}, dtype, layout),
      k({sizes.total_k(), sizes.kv_heads, sizes.dim}, dtype, layout),
      v({sizes.total_k(), sizes.kv_heads, sizes.dim}, dtype, layout),
      out({sizes.total_q(), sizes.heads, sizes.dim}, dtype, layout),
      lse({sizes.heads, sizes.total_q()}, kFloat32, layout),
      dout({sizes.total_q(), sizes.heads, sizes.dim}, dtype, layout),
      dq({sizes.total_q(), sizes.heads, sizes.dim}, dtype, layout),
      dk({sizes.total_k(), sizes.kv_heads, sizes.dim}, dtype, layout),
      dv({sizes.total_k(), sizes.kv_heads, sizes.dim}, dtype, layout),
      cu_q({static_cast<std::int64_t>(first_q.size())}, kInt32, layout),
      cu_k({static_cast<std::int64_t>(first_k.size())}, kInt32, layout),
      slopes({static_cast<std::int64_t>(sizes.q_lengths.size()), sizes.heads}, kFloat32, layout) {
  if (sizes.mask == MaskAs::kNothing) return;
  const TestDtype of_mask = sizes.mask == MaskAs::kTruths   ? kBool
                            : sizes.mask == MaskAs::kFloats ? kFloat32
                                                            : dtype;
  mask =
      std::make_unique<TestTensor>(Lengths{static_cast<std::int64_t>(sizes.q_lengths.size()), sizes.heads,
                                           sizes.longest_q() + sizes.spare, sizes.longest_k() + sizes.spare},
                                   of_mask, layout);
}

void VarlenCall::fill(std::uint32_t seed) {
  std::mt19937 random(seed);
  for (TestTensor* tensor : {std::addressof(q), std::addressof(k), std::addressof(v), std::addressof(dout)})
    tensor->set(random_values(random, tensor->size(), dtype));
  for (std::size_t i = 0; i < first_q.size(); ++i) {
    cu_q.set_bits(i, static_cast<std::uint32_t>(first_q[i]));
    cu_k.set_bits(i, static_cast<std::uint32_t>(first_k[i]));
  }
  std::vector<double> numbers(slopes.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::ldexp(1.0, -1 - static_cast<int>(i % 8));
  slopes.set(numbers);
  if (mask == nullptr) return;
  if (sizes.mask == MaskAs::kTruths) {
    for (std::size_t i = 0; i < mask->size(); ++i) mask->set_bits(i, random() % 4 == 0 ? 0 : 1);
    return;
  }
  numbers = random_values(random, mask->size(), dtype);
  for (double& number : numbers) {
    if (random() % 4 == 0) number = -kInfinity;
  }
  mask->set(numbers);
}

flash_ref_attention_options VarlenCall::options() const {
  flash_ref_attention_options options{};
  options.struct_size = sizeof options;
  options.causal = sizes.causal ? 1 : 0;
  options.softcap = static_cast<float>(sizes.softcap);
  options.window = static_cast<std::uint32_t>(sizes.window);
  if (sizes.alibi) options.alibi_slopes = slopes.descriptor();
  if (mask != nullptr) options.mask = mask->descriptor();
  return options;
}

int VarlenCall::run_forward() {
  const flash_ref_attention_options all = options();
  return flash_ref_attention_varlen_fwd(&q, &k, &v, &cu_q, &cu_k, &out, &lse, &all);
}

int VarlenCall::run_backward() {
  flash_ref_attention_options all = options();
  const auto workspace = device_workspace(all, [&](std::size_t* bytes) {
    return flash_ref_attention_varlen_bwd_workspace(&q, &k, &v, &cu_q, &cu_k, &all, bytes);
  });
  return flash_ref_attention_varlen_bwd(&q, &k, &v, &cu_q, &cu_k, &out, &lse, &dout, &dq, &dk, &dv, &all);
}

bool VarlenCall::guards_intact() const {
  return out.guards_intact() && lse.guards_intact() && dq.guards_intact() && dk.guards_intact() &&
         dv.guards_intact();
}

std::vector<double> VarlenCall::queries(const TestTensor& all, std::size_t b) const {
  return rows_of(all, first_q[b], sizes.q_lengths[b], sizes.heads * sizes.dim);
}

std::vector<double> VarlenCall::keys(const TestTensor& all, std::size_t b) const {
  return rows_of(all, first_k[b], sizes.k_lengths[b], sizes.kv_heads * sizes.dim);
}

std::vector<double> VarlenCall::lse_of(std::size_t b) const {
  std::vector<double> result;
  for (std::int64_t head = 0; head < sizes.heads; ++head) {
    for (std::int64_t i = first_q[b]; i < first_q[b + 1]; ++i)
      result.push_back(lse.value(static_cast<std::size_t>(head * sizes.total_q() + i)));
  }
  return result;
}

std::vector<double> VarlenCall::mask_of(std::size_t b) const {
  std::vector<double> result;
  const std::int64_t rows = sizes.longest_q() + sizes.spare, columns = sizes.longest_k() + sizes.spare;
  for (std::int64_t head = 0; mask != nullptr && head < sizes.heads; ++head) {
    for (std::int64_t i = 0; i < sizes.q_lengths[b]; ++i) {
      for (std::int64_t j = 0; j < sizes.k_lengths[b]; ++j) {
        const auto at = static_cast<std::size_t>(
            ((static_cast<std::int64_t>(b) * sizes.heads + head) * rows + i) * columns + j);
        if (sizes.mask == MaskAs::kTruths) {
          result.push_back(mask->bits(at) == 0 ? -kInfinity : 0.0);
        } else {
          result.push_back(mask->value(at));
        }
      }
    }
  }
  return result;
}

AttentionInputs VarlenCall::inputs_of(std::size_t b) const {
  AttentionInputs inputs{queries(q, b), keys(k, b), keys(v, b), {}, mask_of(b)};
  for (std::int64_t head = 0; sizes.alibi && head < sizes.heads; ++head) {
    inputs.slopes.push_back(
        slopes.value(b * static_cast<std::size_t>(sizes.heads) + static_cast<std::size_t>(head)));
  }
  return inputs;
}

std::string VarlenCall::differences(std::size_t b, Layout layout) const {
  AttentionBwdCall one(sizes.alone(b), dtype, {layout, layout, layout, layout, layout});
  one.forward.mask_as = sizes.mask;
  one.fill(inputs_of(b), queries(dout, b));
  if (one.run() != FLASH_REF_OK) return flash_ref_last_error();
  std::string result;
  if (one.forward.out.values() != queries(out, b)) result += "out ";
  if (one.forward.lse.values() != lse_of(b)) result += "lse ";
  if (one.dq.values() != queries(dq, b)) result += "dq ";
  if (one.dk.values() != keys(dk, b)) result += "dk ";
  if (one.dv.values() != keys(dv, b)) result += "dv ";
  return result;
}

std::string VarlenCall::errors(std::size_t b) const {
  const AttentionInputs inputs = inputs_of(b);
  const AttentionResult exact = attention_fp64(sizes.alone(b), inputs);
  return judge(queries(out, b), exact.out, attention_naive(sizes.alone(b), inputs, dtype.format).out, dtype) +
         judge_lse(lse_of(b), exact.lse);
}

std::string describe(const VarlenCase& sizes, TestDtype dtype) {
  std::ostringstream text;
  text << dtype.name << ", heads " << sizes.heads << "/" << sizes.kv_heads << ", dim " << sizes.dim
       << (sizes.causal ? ", causal" : "") << ", softcap " << sizes.softcap << ", window " << sizes.window
       << (sizes.alibi ? ", ALiBi" : "") << ", mask " << static_cast<int>(sizes.mask) << ", sequences";
  for (std::size_t b = 0; b < sizes.q_lengths.size(); ++b)
    text << ' ' << sizes.q_lengths[b] << '/' << sizes.k_lengths[b];
  return text.str();
}

}  // namespace flash_ref_test
