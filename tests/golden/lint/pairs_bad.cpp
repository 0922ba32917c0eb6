// Tables that travel in a pair.
#include "attention.h"

std::pair<at::Tensor, at::Tensor> tables() {
  at::Tensor angles = torch::full({16, 64}, 1.0);
  return {angles.cos(), angles.sin()};
}

int main() {
  const std::pair<at::Tensor, at::Tensor> cos_sin = tables();
  at::Tensor x = torch::zeros({2, 16, 64}, torch::kBFloat16);
  at::Tensor q = x * cos_sin.first;   // expect: attention-implicit-promotion
  at::Tensor k = x * cos_sin.second;  // expect: attention-implicit-promotion
  attend(q, k, x);
}
