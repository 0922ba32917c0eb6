// Views and algorithms of std::ranges: what is done to each element.
// standard: c++20
#include <algorithm>
#include <ranges>

#include "attention.h"

void viewed(const at::Tensor& x, const at::Tensor& table) {
  const std::vector<at::Tensor> parts = {x, x};
  const auto wide = [&](const at::Tensor& t) {
    return t * table;  // expect: attention-implicit-promotion
  };
  for (const at::Tensor& q : parts | std::views::transform(wide)) attend(q, x, x);
}

void each(const at::Tensor& x, const at::Tensor& table) {
  std::vector<at::Tensor> parts = {x, x};
  std::ranges::for_each(parts, [&](at::Tensor& t) {
    t = t * table;  // expect: attention-implicit-promotion
  });
  attend(parts[0], parts[1], x);
}

void backwards(const at::Tensor& x, const at::Tensor& table) {
  const std::vector<at::Tensor> parts = {x * table};  // expect: attention-implicit-promotion
  for (const at::Tensor& q : parts | std::views::reverse) attend(q, x, x);
}

int main() {
  const at::Tensor x = torch::zeros({1, 2, 3, 4}, torch::kHalf), table = torch::ones({3, 4});
  viewed(x, table);
  each(x, table);
  backwards(x, table);
}
