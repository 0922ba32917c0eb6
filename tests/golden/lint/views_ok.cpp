// The same where each element is cast back, or where it is not known which elements a view has.
// standard: c++20
#include <algorithm>
#include <ranges>

#include "attention.h"

void viewed(const at::Tensor& x, const at::Tensor& table) {
  const std::vector<at::Tensor> parts = {x * table, x};
  const auto narrowed = [&](const at::Tensor& t) { return t.to(x.scalar_type()); };
  for (const at::Tensor& q : parts | std::views::transform(narrowed)) attend(q, x, x);
  for (const at::Tensor& q : parts | std::views::drop(1)) attend(q, x, x);
  const auto half = [&](const at::Tensor& t) { return t.scalar_type() == x.scalar_type(); };
  for (const at::Tensor& q : parts | std::views::filter(half)) attend(q, x, x);
}

void each(const at::Tensor& x, const at::Tensor& table) {
  std::vector<at::Tensor> parts = {x, x};
  std::ranges::for_each(parts, [&](at::Tensor& t) { t = (t * table).to(x.scalar_type()); });
  attend(parts[0], parts[1], x);
}

int main() {
  const at::Tensor x = torch::zeros({1, 2, 3, 4}, torch::kHalf), table = torch::ones({3, 4});
  viewed(x, table);
  each(x, table);
}
