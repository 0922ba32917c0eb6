// Descriptors that are right, or of which nothing can be proved.
#include "attention.h"

int attend_as(DLTensor* q, DLTensor* other) {
  return flash_ref_attention_fwd(q, other, other, other, nullptr, nullptr);
}

// Written for bfloat16: that some precision setting hands in float16 is no evidence.
void for_bfloat16(const at::Tensor& q) {
  DLTensor d{};
  d.data = q.data_ptr();
  d.dtype = {4, 16, 1};
  attend_as(&d, &d);
}

// DLPack had no bfloat16 once; bytes and integers carry any type.
void as_bits(DLTensor* out) {
  at::Tensor raw = torch::zeros({1, 2, 3, 4}, torch::kByte);
  DLTensor d{};
  d.data = raw.data_ptr();
  d.dtype = {4, 16, 1};
  attend_as(&d, out);
}

// Field by field, and which it is depends on something.
void by_fields(const at::Tensor& half, bool wide) {
  DLTensor d{};
  d.data = half.data_ptr();
  d.dtype.code = 2;
  d.dtype.bits = 16;
  d.dtype.lanes = 1;
  attend_as(&d, &d);
  d.dtype.bits = wide ? 32 : 16;
  attend_as(&d, &d);
  d.dtype.code = 4;
  if (wide) {
    d.dtype.bits = 32;
  } else {
    d.dtype.code = 2;
  }
  attend_as(&d, &d);
}

// The dtype comes in parts, as numbers.
DLTensor in_parts(void* data, unsigned char code, unsigned char bits) {
  DLTensor d{};
  d.data = data;
  d.dtype = {code, bits, 1};
  return d;
}

DLTensor with_bits(void* data, unsigned char bits) {
  DLTensor d{};
  d.data = data;
  d.dtype.code = 2;
  d.dtype.bits = bits;
  d.dtype.lanes = 1;
  return d;
}

int main() {
  at::Tensor x = torch::zeros({1, 2, 3, 4}, torch::kHalf);
  DLTensor a = in_parts(x.data_ptr(), 2, 16), b = with_bits(x.data_ptr(), 16);
  attend_as(&a, &a);
  attend_as(&b, &b);
  DLTensor d{};
  d.data = x.data_ptr<at::Half>();
  d.dtype = {2, 16, 1};
  attend_as(&d, &d);
  by_fields(x, true);
  void* memory = x.data_ptr();
  d.data = memory;
  attend_as(&d, &d);
}
