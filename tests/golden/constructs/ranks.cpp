// How many dimensions a tensor has, where that decides: of two tensors of unknown rank only the one that has
// a dimension promotes the other. `table` is float32 by a cast, of unknown rank.
#include <c10/util/Exception.h>

#include "attention.h"

using at::Tensor;

// Nothing proves it.
void ok_unknown(const Tensor& q, const Tensor& table) { attend(q * table.to(at::kFloat), q, q); }
void ok_scalars_have_a_dimension_0(const Tensor& q, const Tensor& table) {
  const Tensor wide = table.to(at::kFloat);
  const auto sums = wide.sum(0) + wide.softmax(-1).transpose(0, -1).cumsum(-1);
  attend(q * wide.squeeze(0), q * wide.sum(at::IntArrayRef({0, 1})), q * sums);
}
void ok_of_another(const Tensor& q, const Tensor& table, const Tensor& other) {
  TORCH_CHECK(other.dim() == 2 && other.size(1) > 0);
  attend(q * table.to(at::kFloat), q, q);
}

// Operators that would throw otherwise.
void bad_transposed(const Tensor& q, const Tensor& table) {
  attend(q * table.to(at::kFloat).transpose(1, 2), q, q);  // expect: attention-mixed-dtypes
}
void bad_counted_from_the_end(const Tensor& q, const Tensor& table) {
  attend(q * table.to(at::kFloat).transpose(-2, -1), q, q);  // expect: attention-mixed-dtypes
}
void bad_permuted(const Tensor& q, const Tensor& table) {
  const Tensor wide = table.to(at::kFloat).permute({1, 0}).select(0, 0);  // expect: attention-mixed-dtypes
  attend(q * wide, q, q);
}
void ok_permuted(const Tensor& q, const Tensor& table) {
  attend(q * table.to(at::kFloat).permute({0}).select(0, 0), q, q);
}
void bad_moved(const Tensor& q, const Tensor& table) {
  const Tensor wide = table.to(at::kFloat).movedim(1, 0);  // expect: attention-mixed-dtypes
  attend(q * wide, q, q);
}
void bad_unsqueezed(const Tensor& q, const Tensor& table) {
  const Tensor wide = table.to(at::kFloat).unsqueeze(2);  // expect: attention-mixed-dtypes
  attend(q * wide.select(0, 0).select(0, 0), q, q);
}
void ok_unsqueezed(const Tensor& q, const Tensor& table) {
  attend(q * table.to(at::kFloat).unsqueeze(0).select(0, 0), q, q);
}
void bad_joined(const Tensor& q, const Tensor& table) {
  const Tensor wide = table.to(at::kFloat);  // expect: attention-mixed-dtypes
  attend(q * at::cat({wide, wide}, -1), q, q);
}
void bad_stacked(const Tensor& q, const Tensor& table) {
  const Tensor wide = table.to(at::kFloat);  // expect: attention-mixed-dtypes
  attend(q * at::stack({wide, wide}, 1).select(0, 0), q, q);
}
void ok_stacked(const Tensor& q, const Tensor& table) {
  const Tensor wide = table.to(at::kFloat);
  attend(q * at::stack({wide, wide}).select(0, 0), q, q);
}
void bad_parts(const Tensor& q, const Tensor& table) {
  attend(q * table.to(at::kFloat).chunk(2, -1)[0], q, q);  // expect: attention-mixed-dtypes
}
void bad_narrowed(const Tensor& q, const Tensor& table) {
  attend(q * table.to(at::kFloat).narrow(-1, 0, 4), q, q);  // expect: attention-mixed-dtypes
}
void bad_flattened(const Tensor& q, const Tensor& table) {
  const Tensor wide = table.to(at::kFloat).flatten();  // expect: attention-mixed-dtypes
  attend(q * wide, q, q);
}
void bad_like_another(const Tensor& q, const Tensor& table) {
  const Tensor wide = table.to(at::kFloat);  // expect: attention-mixed-dtypes
  attend(q * wide.sum().expand_as(wide.unsqueeze(0)), q, q);
}
void bad_product(const Tensor& q, const Tensor& table) {
  const Tensor wide = table.to(at::kFloat);  // expect: attention-mixed-dtypes
  attend(q * at::matmul(wide, wide.transpose(-2, -1)), q, q);
}
void bad_kept(const Tensor& q, const Tensor& table) {
  const Tensor wide = table.to(at::kFloat).transpose(0, 1);  // expect: attention-mixed-dtypes
  attend(q * wide.mean(at::IntArrayRef({0, 1}), true), q, q);
}
void ok_in_place(const Tensor& q) {
  Tensor wide = torch::ones({1});
  wide.squeeze_();
  attend(q * wide, q, q);
}

// What the tensor was asked before.
void bad_size_taken(const Tensor& q, const Tensor& table) {
  const auto rows = table.size(0);
  attend(q * table.to(at::kFloat) * rows, q, q);  // expect: attention-mixed-dtypes
}
void bad_used_before(const Tensor& q, const Tensor& table) {
  const Tensor turned = table.transpose(1, 2);
  attend(q * table.to(at::kFloat), turned, turned);  // expect: attention-mixed-dtypes
}
void bad_checked(const Tensor& q, const Tensor& table) {
  TORCH_CHECK(table.dim() == 2, "two dimensions");
  attend(q * table.to(at::kFloat), q, q);  // expect: attention-mixed-dtypes
}
void bad_one_of_two(const Tensor& q, const Tensor& table) {
  TORCH_CHECK(table.dim() == 2 || 3 == table.dim());
  attend(q * table.to(at::kFloat), q, q);  // expect: attention-mixed-dtypes
}
void ok_one_of_two(const Tensor& q, const Tensor& table) {
  TORCH_CHECK(table.dim() == 2 || q.dim() == 3);
  attend(q * table.to(at::kFloat), q, q);
}
void bad_counted_sizes(const Tensor& q, const Tensor& table) {
  if (table.sizes().size() != 2) return;
  attend(q * table.to(at::kFloat), q, q);  // expect: attention-mixed-dtypes
}
void bad_by_a_number(const Tensor& q, const Tensor& table) {
  const int64_t dimensions = table.ndimension();
  if (dimensions > 1) {
    attend(q * table.to(at::kFloat), q, q);  // expect: attention-mixed-dtypes
  }
}
void ok_by_a_number(const Tensor& q, const Tensor& table) {
  const int64_t dimensions = table.dim();
  if (dimensions == 0) attend(q * table.to(at::kFloat), q, q);
  if (dimensions < 3) attend(q, q * table.to(at::kFloat), q);
}
void bad_any_dimension(const Tensor& q, const Tensor& table) {
  if (table.dim()) attend(q * table.to(at::kFloat), q, q);  // expect: attention-mixed-dtypes
}
void ok_any_dimension(const Tensor& q, const Tensor& table) {
  const bool any = table.dim();
  if (any == 1) attend(q, q, q);
  if (!any) attend(q * table.to(at::kFloat), q, q);
}
static void check(const Tensor& tensor) { TORCH_CHECK(tensor.dim() >= 2); }
void bad_checked_elsewhere(const Tensor& q, const Tensor& table) {
  check(table);
  attend(q * table.to(at::kFloat), q, q);  // expect: attention-mixed-dtypes
}
void ok_each_of_a_list(const Tensor& q, const std::vector<Tensor>& tables) {
  TORCH_CHECK(tables[0].dim() == 2);
  attend(q * tables[1].to(at::kFloat), q, q);
}
void ok_last_round(const Tensor& q, const std::vector<Tensor>& tables) {
  int64_t dimensions = 0;
  for (const Tensor& table : tables) {
    if (dimensions == 2) attend(q * table.to(at::kFloat), q, q);
    dimensions = table.dim();
  }
}

// Two of the same rank: both have a dimension, or neither.
void bad_like_itself(const Tensor& q) {
  attend(q * torch::ones_like(q, at::kFloat), q, q);                // expect: attention-implicit-promotion
  attend(q * q.to(at::kFloat), q, q);                               // expect: attention-mixed-dtypes
  attend(q + at::zeros(q.sizes()), q, q);                           // expect: attention-implicit-promotion
  attend(q + torch::full_like(q, 2, at::kFloat).exp_() / 2, q, q);  // expect: attention-implicit-promotion
  attend(q * torch::rand_like(q.contiguous(), at::kFloat), q, q);   // expect: attention-implicit-promotion
}
void bad_norm(const Tensor& q) {
  const Tensor wide = q.to(at::kFloat);  // expect: attention-mixed-dtypes
  const Tensor scale = torch::rsqrt(wide.pow(2).mean(-1, true) + 1e-6);
  attend(q * scale, q, q);
}
void ok_like_another(const Tensor& q, const Tensor& k) {
  attend(q * torch::ones_like(k, at::kFloat), q, q);
  attend(q + at::zeros(k.sizes()), q, q);
  attend(q * q.to(at::kFloat).sum(-1), q, q);
}
void ok_sizes_changed(const Tensor& v) {
  const Tensor q = v.to(at::kHalf).flatten();
  std::vector<int64_t> sizes = q.sizes().vec();
  sizes.pop_back();
  attend(q + at::zeros(sizes), q, q);
}
void ok_either(const Tensor& q, const Tensor& k, bool first) {
  const Tensor one = first ? q : k;
  attend(q * one.to(at::kFloat), q, q);
}
void ok_changed_in_place(Tensor q, const Tensor& v) {
  const Tensor wide = torch::ones_like(q, at::kFloat);
  q.unsqueeze_(0);
  attend(q * wide, v, v);
}

// What a function, a lambda or a method does to a tensor's dimensions in place holds for each name of that
// tensor: this one has none then, and promotes nothing.
void flattened(Tensor t) { t.squeeze_(); }
void flattened_reference(Tensor& t) { t.squeeze_(); }
void flattened_twice(const Tensor& t) { flattened(t); }
void ok_changed_by_callee(const Tensor& q) {
  const Tensor scale = torch::ones({1});
  flattened_twice(scale);
  attend(q * scale, q, q);
}
void ok_changed_by_another_name(const Tensor& q) {
  const Tensor scale = torch::ones({1});
  Tensor alias = scale;
  flattened_reference(alias);
  attend(q * scale, q, q);
}
void ok_changed_by_lambda(const Tensor& q) {
  Tensor alias = torch::ones({1});
  const auto change = [&] { alias.squeeze_(); };
  const Tensor scale = alias;
  change();
  attend(q * scale, q, q);
}
struct Scaled {
  Tensor scale;
  void flatten() { scale.squeeze_(); }
};
void ok_changed_by_method(const Tensor& q) {
  const Tensor scale = torch::ones({1});
  Scaled scaled{scale};
  scaled.flatten();
  attend(q * scale, q, q);
}
void bad_changed_another(const Tensor& q) {
  const Tensor scale = torch::ones({1});
  flattened(scale.detach());
  attend(q * scale, q, q);  // expect: attention-implicit-promotion
}

// What the call takes has dimensions, and so had all of that rank before.
static Tensor scaled_norm(const Tensor& x, const Tensor& weight) {
  const Tensor wide = x.to(at::kFloat);  // expect: attention-mixed-dtypes
  return weight * (wide * torch::rsqrt(wide.pow(2).mean(-1, true)));
}
void bad_proved_by_the_call(const Tensor& x, const Tensor& weight) { attend(scaled_norm(x, weight), x, x); }
void bad_proved_by_one_of_two_calls(const Tensor& x, const Tensor& k, const Tensor& weight) {
  const Tensor wide = x.to(at::kFloat);  // expect: attention-mixed-dtypes
  const Tensor q = weight * wide;
  attend(q, k, k);
  attend(q, x, x);
}
// Of another tensor, of one that has more dimensions, of what a loop made, or of one that may be another.
void ok_proved_of_another(const Tensor& x, const Tensor& k, const Tensor& weight) {
  attend(weight * x.to(at::kFloat), k, k);
}
void ok_proved_of_more(const Tensor& x, const Tensor& weight) {
  attend(weight * x.to(at::kFloat), x.unsqueeze(0), x.unsqueeze(0));
}
void ok_proved_of_product(const Tensor& x, const Tensor& k, const Tensor& weight) {
  const Tensor q = weight * x.to(at::kFloat);
  attend(q, q.to(at::kHalf), k);
}
void ok_proved_of_either(const Tensor& x, const Tensor& k, const Tensor& weight, bool first) {
  const Tensor one = first ? x : k;
  attend(weight * x.to(at::kFloat), one, one);
}

// Two half dtypes make float32. That one of them is the setting's choice says nothing against the code.
void ok_other_half(const Tensor& x) {
  TORCH_CHECK(x.dim() == 4);
  attend(x * torch::ones({8}, at::kHalf), x, x);
}
void bad_other_half(const Tensor& x) {
  const Tensor q = x.to(at::kBFloat16);
  TORCH_CHECK(q.dim() == 4);
  attend(q * torch::ones({8}, at::kHalf), q, q);  // expect: attention-implicit-promotion
}
