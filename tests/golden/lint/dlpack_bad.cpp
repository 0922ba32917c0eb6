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

  DLTensor e{};
  e.data = x.data_ptr();
  e.dtype.code = 4;
  e.dtype.bits = 16;  // expect: dlpack-dtype-mismatch
  e.dtype.lanes = 1;
  attend_as(&e, &e);

  std::vector<float> plain(24);
  DLTensor p{plain.data(), 4, {2, 16, 1}};  // expect: dlpack-dtype-mismatch
  attend_as(&p, &p);
}
