// The half types of C++23, which no standard library declares for Clang.
// standard: c++23
#include <stdfloat>

#include "attention.h"

static int attend(const float* q, const void* k, DLDataType k_type) {
  DLTensor a = describe(const_cast<float*>(q), {2, 32, 1}), b = describe(const_cast<void*>(k), k_type);
  return flash_ref_attention_fwd(&a, &b, &b, &b, nullptr, nullptr);
}

void half(const std::float16_t* h, int n) {
  std::vector<float> f(n);
  for (int i = 0; i < n; ++i) f[i] = h[i];  // expect: attention-implicit-promotion
  attend(f.data(), h, {2, 16, 1});
}

void brain(const std::bfloat16_t* h, int n) {
  std::vector<std::float32_t> f(n);
  for (int i = 0; i < n; ++i) f[i] = h[i] * 2.0f;  // expect: attention-implicit-promotion
  attend(f.data(), h, {4, 16, 1});
}

void written(const std::float16_t* h, int n) {
  std::vector<float> f(n);
  for (int i = 0; i < n; ++i) f[i] = static_cast<float>(h[i]);  // expect: attention-mixed-dtypes
  attend(f.data(), h, {2, 16, 1});
}
