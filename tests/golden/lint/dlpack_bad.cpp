// Descriptors and pointer types that contradict the data.
#include "attention.h"

int attend_as(DLTensor* q, DLTensor* other) {
  return flash_ref_attention_fwd(q, other, other, other, nullptr, nullptr);
}

void described(const at::Tensor& q) {
  DLTensor d{};
  d.data = q.data_ptr<float>();
  d.dtype = {4, 16, 1};  // expect: dlpack-dtype-mismatch
  attend_as(&d, &d);
}

int main() {
  at::Tensor x = torch::zeros({1, 2, 3, 4}, torch::kHalf);
  DLTensor d{};
  d.data = x.data_ptr();
  d.dtype = {4, 16, 1};  // expect: dlpack-dtype-mismatch
  attend_as(&d, &d);

  std::vector<float> plain(24);
  DLTensor p{plain.data(), 4, {2, 16, 1}};  // expect: dlpack-dtype-mismatch
  attend_as(&p, &p);
}
