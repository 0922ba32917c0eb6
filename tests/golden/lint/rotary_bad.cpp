// Qwen2.5-Omni: the input is widened, the tables are not.
#include "attention.h"

at::Tensor rotate(const at::Tensor& x, const at::Tensor& freqs) {
  at::Tensor wide = x.to(torch::kFloat);  // expect: rotary-dtype-mismatch
  rotary(wide, freqs, freqs);
  return wide.type_as(x);
}

int main() { rotate(torch::zeros({1, 2, 3, 4}, torch::kHalf), torch::zeros({2, 2}, torch::kHalf)); }
