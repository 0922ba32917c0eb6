// Plain C++: half times float is float.
#include "attention.h"

int main() {
  std::vector<_Float16> k(64);
  std::vector<float> q(64), scale(4);
  for (int i = 0; i < 64; ++i) q[i] = k[i] * scale[i % 4];  // expect: attention-implicit-promotion
  DLTensor q_tensor = describe(q.data(), {2, 32, 1}), k_tensor = describe(k.data(), {2, 16, 1});
  return flash_ref_attention_fwd(&q_tensor, &k_tensor, &k_tensor, &k_tensor, nullptr, nullptr);
}
