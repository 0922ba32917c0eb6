// Conditions that do not change what reaches the call.
#include "attention.h"

void not_enough(const at::Tensor& x, const at::Tensor& table) {
  at::Tensor q = x * table;  // expect: attention-implicit-promotion
  TORCH_CHECK(q.scalar_type() != torch::kLong, "floating");
  attend(q, x, x);
}

void the_wrong_way(const at::Tensor& x, const at::Tensor& table) {
  at::Tensor q = x * table;  // expect: attention-implicit-promotion
  if (q.element_size() == 2) q = q.to(torch::kHalf);
  attend(q, x, x);
}

void too_early(at::Tensor q, const at::Tensor& x, const at::Tensor& table) {
  if (q.scalar_type() == torch::kFloat) q = q.to(torch::kHalf);
  q = q * table;  // expect: attention-implicit-promotion
  attend(q, x, x);
}

void in_array(const at::Tensor& x, const at::Tensor& table) {
  std::array<at::Tensor, 2> parts = {x * table, x};  // expect: attention-implicit-promotion
  attend(parts[0], parts[1], x);
}

int main() {
  const at::Tensor x = torch::zeros({1, 2, 3, 4}, torch::kHalf);
  const at::Tensor table = torch::ones({3, 4});
  not_enough(x, table);
  the_wrong_way(x, table);
  too_early(x, x, table);
  in_array(x, table);
}
