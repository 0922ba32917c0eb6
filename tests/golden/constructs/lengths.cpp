// Lengths and masks of the wrong integers: the place is where they were made, whichever function hands them
// on.
#include <torch/types.h>

using at::Tensor;

namespace pytorch_flash {
Tensor mha_varlen_fwd(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& out,
                      const Tensor& cu_seqlens_q, const Tensor& cu_seqlens_k);
}
namespace lengths {

Tensor run(const Tensor& q, const Tensor& lengths_of) {
  const Tensor half = q.to(at::kHalf);
  return pytorch_flash::mha_varlen_fwd(half, half, half, half, lengths_of, lengths_of);
}

Tensor bad_made(const Tensor& q) {
  const Tensor wrong = torch::zeros({4}, at::kLong);  // expect: attention-unsupported-dtype
  return run(q, wrong);
}
Tensor bad_default(const Tensor& q) {
  return run(q, torch::arange(0, 12, 4));  // expect: attention-unsupported-dtype
}
Tensor bad_summed(const Tensor& q, const Tensor& each) {
  return run(q, each.to(at::kInt).cumsum(0));  // expect: attention-unsupported-dtype
}
Tensor bad_cast(const Tensor& q, const Tensor& each) {
  const Tensor right = each.cumsum(0, at::kInt);
  return run(q, right.to(at::kLong).slice(0, 1));  // expect: attention-unsupported-dtype
}
Tensor ok_made(const Tensor& q) { return run(q, torch::zeros({4}, at::kInt)); }
Tensor ok_summed(const Tensor& q, const Tensor& each) { return run(q, each.cumsum(0, at::kInt)); }
Tensor ok_cast(const Tensor& q) { return run(q, torch::arange(0, 12, 4).to(at::kInt)); }
Tensor ok_unknown(const Tensor& q, const Tensor& given) { return run(q, given); }
// Made like an input, whatever that is.
Tensor ok_like_given(const Tensor& q, const Tensor& given) {
  return run(q, torch::cat({torch::zeros({1}, given.options()), given}, 0));
}
Tensor ok_range_like_given(const Tensor& q, const Tensor& given) {
  return run(q, torch::arange(9, given.options()) * 4);
}
Tensor ok_cast_like_given(const Tensor& q, const Tensor& given) {
  return run(q, torch::arange(9, at::kLong).to(given.scalar_type()));
}
// A mask or lengths: autocast widens no sum of integers.
Tensor ok_counted_by_mask(const Tensor& q, const Tensor& mask, const Tensor& given) {
  const Tensor k = q / mask.sum(1).clamp_min(1).unsqueeze(-1);
  const Tensor v = q * mask.unsqueeze(0).cumsum(-1);
  return pytorch_flash::mha_varlen_fwd(q, k, v, q, given, given);
}
Tensor bad_summed_half(const Tensor& x, const Tensor& w, const Tensor& given) {
  const Tensor q = at::linear(x, w);
  const Tensor k = q / q.sum(-1, true);  // expect: autocast-fp32-operator
  return pytorch_flash::mha_varlen_fwd(q, k, q, q, given, given);
}
Tensor ok_either(const Tensor& q, bool wide) {
  Tensor each = torch::zeros({4}, wide ? at::kLong : at::kInt);
  if (wide) each = each.to(at::kInt);
  return run(q, each);
}
// Indices are integers: they widen no float.
Tensor ok_index(const Tensor& q, const Tensor& table) {
  const Tensor half = q.to(at::kHalf);
  const Tensor at = torch::arange(0, 4);
  return run(table.to(at::kHalf).index_select(0, at), torch::zeros({4}, at::kInt)) + half;
}

}  // namespace lengths
