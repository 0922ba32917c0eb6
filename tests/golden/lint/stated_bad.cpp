// What the code itself says of dtypes is evidence, in whichever setting.
#include "attention.h"

struct __half {
  unsigned short bits;
};
struct __nv_bfloat16 {
  unsigned short bits;
};

constexpr DLDataType kF16{2, 16, 1}, kBF16{4, 16, 1};

int pointers(__half* q, __half* k, __nv_bfloat16* v) {
  DLTensor a = describe(q, kF16), b = describe(k, kF16), c = describe(v, kBF16);
  return flash_ref_attention_fwd(&a, &b, &c, &a, nullptr, nullptr);  // expect: attention-mixed-dtypes
}

struct Batch {
  __half* q;
  __nv_bfloat16* k;
};
int members(const Batch& batch) {
  DLTensor a = describe(batch.q, kF16), b = describe(batch.k, kBF16);
  return flash_ref_attention_fwd(&a, &b, &b, &a, nullptr, nullptr);  // expect: attention-mixed-dtypes
}

void casts(const at::Tensor& x) {
  attend(x.to(torch::kHalf), x.to(torch::kHalf), x.to(torch::kBFloat16));  // expect: attention-mixed-dtypes
}

void options() {
  const auto half = torch::TensorOptions().dtype(torch::kHalf);
  const auto other = torch::TensorOptions().dtype(torch::kBFloat16);
  const auto q = torch::zeros({1, 2}, half);
  const auto k = torch::zeros({1, 2}, other);  // expect: attention-mixed-dtypes
  attend(q, k, q);
}
