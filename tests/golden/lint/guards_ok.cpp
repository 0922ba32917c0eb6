// Casts back, checks, lambdas and branches that keep the half dtype.
#include "attention.h"

at::Tensor checked(const at::Tensor& q, const at::Tensor& table) {
  at::Tensor wide = q * table;
  TORCH_CHECK(wide.scalar_type() == torch::kHalf || wide.scalar_type() == torch::kBFloat16, "half only");
  return attend(wide, q, q);
}

int main() {
  at::Tensor x = torch::zeros({1, 2, 3, 4}, torch::kHalf);
  const at::Tensor table = torch::zeros({3, 4}, torch::kFloat);
  auto scaled = [&](const at::Tensor& t) { return (t * table).to(t.scalar_type()); };
  attend(scaled(x), x, x);
  at::Tensor y = x.dim() == 4 ? (x * 2.0).to(x.options()) : x;
  y *= table;
  attend(y, x, x);
  std::vector<at::Tensor> all = {x * table, x};
  for (auto& each : all) each = each.to(torch::kHalf);
  attend(all[0], all[1], x);
  std::vector<at::Tensor> more = {x * table, x};
  for (int i = 0; i < 2; ++i) more[i] = more[i].to(torch::kHalf);
  attend(more[0], more[1], x);
  checked(x, table);
}
