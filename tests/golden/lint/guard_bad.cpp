// The check sees the value from before its promotion.
#include "attention.h"

void checked(at::Tensor q, const at::Tensor& k, const at::Tensor& scale) {
  TORCH_CHECK(q.scalar_type() == torch::kHalf || q.scalar_type() == torch::kBFloat16, "half only");
  q = q * scale;  // expect: dtype-guard-misses-promotion
  attend(q, k, k);
}

// As in VAR: the test is on the fused projection, the promotion on a part of it, and the call after both.
void chosen(const at::Tensor& qkv, const at::Tensor& scale) {
  const bool using_flash = qkv.scalar_type() != torch::kFloat;
  at::Tensor q = qkv.unbind(2)[0], k = qkv.unbind(2)[1];
  q = q * scale;  // expect: dtype-guard-misses-promotion
  if (using_flash) attend(q, k, k);
}

void late(const at::Tensor& x, const at::Tensor& scale) {
  at::Tensor q = x * scale;  // expect: dtype-guard-misses-promotion
  if (x.scalar_type() == torch::kFloat) return;
  attend(q, x, x);
}

int main() {
  at::Tensor x = torch::zeros({1, 2, 3, 4}, torch::kHalf);
  const at::Tensor scale = torch::ones({3, 4});
  checked(x, x, scale);
  chosen(torch::zeros({1, 2, 3, 3, 4}, torch::kHalf), scale);
  late(x, scale);
}
