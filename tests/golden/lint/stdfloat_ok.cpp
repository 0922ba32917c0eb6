// The same types where the sum is a float for a while and is rounded back.
// standard: c++23
#include <stdfloat>

#include "attention.h"

int attend(const std::float16_t* q) {
  DLTensor a = describe(const_cast<std::float16_t*>(q), {2, 16, 1});
  return flash_ref_attention_fwd(&a, &a, &a, &a, nullptr, nullptr);
}

void accumulated(const std::float16_t* h, int n) {
  std::vector<std::float16_t> out(n);
  for (int i = 0; i < n; ++i) {
    float sum = h[i];
    sum += h[i] * 2.0f;
    out[i] = static_cast<std::float16_t>(sum);
  }
  attend(out.data());
}

int main() { return 0; }
