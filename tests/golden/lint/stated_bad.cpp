// A check says what an input is that no half model has in half. What the others are it does not say.
#include "attention.h"

void lengths(const at::Tensor& x, const at::Tensor& table, const at::Tensor& lengths) {
  TORCH_CHECK(lengths.scalar_type() == torch::kLong, "lengths must be int64");
  at::Tensor q = x * torch::ones({3, 4});  // expect: attention-implicit-promotion
  attend(q, x, x);
}

void after_it(const at::Tensor& x, const at::Tensor& mask) {
  at::Tensor q = x * torch::ones({3, 4});  // expect: attention-implicit-promotion
  TORCH_CHECK(mask.scalar_type() == torch::kBool && x.dim() == 4, "mask must be bool");
  attend(q, x, x);
}

void one_of_two(const at::Tensor& x, const at::Tensor& ids) {
  TORCH_CHECK(ids.scalar_type() == torch::kLong || ids.scalar_type() == torch::kLong, "ids must be integers");
  at::Tensor q = x * torch::ones({3, 4});  // expect: attention-implicit-promotion
  attend(q, x, x);
}

void by_local(const at::Tensor& x, const at::Tensor& ids) {
  const bool is_long = ids.scalar_type() == torch::kLong;
  TORCH_CHECK(is_long, "ids must be int64");
  at::Tensor q = x * torch::ones({3, 4});  // expect: attention-implicit-promotion
  attend(q, x, x);
}

void by_throw(const at::Tensor& x, const at::Tensor& ids) {
  if (ids.scalar_type() != torch::kLong) throw 1;
  at::Tensor q = x * torch::ones({3, 4});  // expect: attention-implicit-promotion
  attend(q, x, x);
}

// Whatever x is, the product is float32, which the call never takes.
void by_table(const at::Tensor& x, const at::Tensor& cosine) {
  TORCH_CHECK(cosine.scalar_type() == torch::kFloat, "the table must be float32");
  at::Tensor q = x * cosine.view({3, 4});  // expect: attention-implicit-promotion
  attend(q, x, x);
}

void check_lengths(const at::Tensor& lengths) {
  TORCH_CHECK(lengths.scalar_type() == torch::kLong, "lengths must be int64");
}

void by_function(const at::Tensor& x, const at::Tensor& lengths) {
  check_lengths(lengths);
  at::Tensor q = x * torch::ones({3, 4});  // expect: attention-implicit-promotion
  attend(q, x, x);
}
