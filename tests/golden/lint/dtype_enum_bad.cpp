// Untyped pointers beside an enumeration that says what they point to.
#include "attention.h"

enum class Type { kF16, kF32 };

DLDataType described(Type type) {
  switch (type) {
    case Type::kF16:
      return {2, 16, 1};
    case Type::kF32:
      return {2, 32, 1};
  }
  throw type;
}

static int attend(const void* q, Type q_type, const void* k, Type k_type) {
  DLTensor a = describe(const_cast<void*>(q), described(q_type));
  DLTensor b = describe(const_cast<void*>(k), described(k_type));
  return flash_ref_attention_fwd(&a, &b, &b, &b, nullptr, nullptr);
}

void widened(const c10::Half* h, int n) {
  std::vector<float> f(n);
  for (int i = 0; i < n; ++i) f[i] = h[i];  // expect: attention-implicit-promotion
  attend(f.data(), Type::kF32, h, Type::kF16);
}
