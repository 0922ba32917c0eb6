// Checks that do not decide about the call, or that the promoted value would pass too: the promotion is
// found, and the check is not blamed.
#include "attention.h"

void logged(const at::Tensor& x, const at::Tensor& scale) {
  at::Tensor q = x * scale;  // expect: attention-implicit-promotion
  if (x.scalar_type() == torch::kHalf) x.dim();
  attend(q, x, x);
}

void other_tensor(const at::Tensor& x, const at::Tensor& mask, const at::Tensor& scale) {
  TORCH_CHECK(mask.scalar_type() == torch::kBFloat16, "mask");
  attend(x * scale, x, x);  // expect: attention-implicit-promotion
}

void would_pass(const at::Tensor& x, const at::Tensor& scale) {
  TORCH_CHECK(x.scalar_type() != torch::kLong, "no integers");
  attend(x * scale, x, x);  // expect: attention-implicit-promotion
}

int main() {
  at::Tensor x = torch::zeros({1, 2, 3, 4}, torch::kHalf);
  const at::Tensor scale = torch::ones({3, 4});
  logged(x, scale);
  other_tensor(x, torch::zeros({3}, torch::kBFloat16), scale);
  would_pass(x, scale);
}
