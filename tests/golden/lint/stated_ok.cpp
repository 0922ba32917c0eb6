// Halves that the code states and that agree; and one that is stated beside one that the setting chose.
#include "attention.h"

struct __half {
  unsigned short bits;
};
struct __nv_bfloat16 {
  unsigned short bits;
};

template <class T>
constexpr DLDataType kType{2, 16, 1};
template <>
constexpr DLDataType kType<__nv_bfloat16>{4, 16, 1};

template <class T>
int pointers(T* q, T* k, T* v) {
  DLTensor a = describe(q, kType<T>), b = describe(k, kType<T>), c = describe(v, kType<T>);
  return flash_ref_attention_fwd(&a, &b, &c, &a, nullptr, nullptr);
}
template int pointers(__half*, __half*, __half*);
template int pointers(__nv_bfloat16*, __nv_bfloat16*, __nv_bfloat16*);

void casts(const at::Tensor& x) { attend(x.to(torch::kHalf), x.to(torch::kHalf), x.to(torch::kHalf)); }

int main() {
  __half* halves = nullptr;
  pointers(halves, halves, halves);
  casts(torch::zeros({1, 2}, torch::kBFloat16));
}
