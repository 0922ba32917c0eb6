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

// The dtype comes in parts, as numbers.
DLTensor in_parts(void* data, unsigned char code, unsigned char bits) {
  DLTensor d{};
  d.data = data;
  d.dtype = {code, bits, 1};  // expect: dlpack-dtype-mismatch
  return d;
}

DLTensor with_bits(void* data, unsigned char bits) {
  DLTensor d{};
  d.data = data;
  d.dtype.code = 2;
  d.dtype.bits = bits;  // expect: dlpack-dtype-mismatch
  d.dtype.lanes = 1;
  return d;
}

int main() {
  at::Tensor x = torch::zeros({1, 2, 3, 4}, torch::kHalf);
  DLTensor a = in_parts(x.data_ptr(), 2, 32), b = with_bits(x.data_ptr(), 32);
  attend_as(&a, &a);
  attend_as(&b, &b);
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
