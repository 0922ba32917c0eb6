// More ways than are told apart: the dtype stays known, and one of them stands for all.
#include "attention.h"

at::Tensor scaled(const at::Tensor& q, const at::Tensor& w, int way) {
  if (way == 0) return q * w;
  if (way == 1) return w * q;
  if (way == 2) return q + w;
  if (way == 3) return q * w;
  if (way == 4) return w * q;
  if (way == 5) return q + w;
  if (way == 6) return w + q;
  if (way == 7) return w + q;
  return q * w * w;  // expect: attention-implicit-promotion
}

void by_helper(const at::Tensor& x, const at::Tensor& table, int way) { attend(scaled(x, table, way), x, x); }

void by_switch(at::Tensor q, const at::Tensor& x, const at::Tensor& table, int way) {
  switch (way) {
    case 0:
      q = q * table;
      break;
    case 1:
      q = table * q;
      break;
    case 2:
      q = q + table;
      break;
    case 3:
      q = q * table;
      break;
    case 4:
      q = table * q;
      break;
    case 5:
      q = q + table;
      break;
    case 6:
      q = table + q;
      break;
    case 7:
      q = table + q;  // expect: attention-implicit-promotion
      break;
    default:
      break;
  }
  attend(q, x, x);
}

int main(int count, char**) {
  const at::Tensor x = torch::zeros({1, 2, 3, 4}, torch::kHalf);
  const at::Tensor table = torch::ones({3, 4});
  by_helper(x, table, count);
  by_switch(x, x, table, count);
}
