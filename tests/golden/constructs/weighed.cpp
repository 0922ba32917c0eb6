// Dtypes that are told apart by their order, their size or how many are half, and not by ==.
#include <ATen/core/Tensor.h>

#include "attention.h"

using at::Tensor;

static Tensor wide(const Tensor& x) { return x.to(at::kFloat) * 2; }
static bool fits_in_16_bits(const Tensor& t) {
  return t.scalar_type() == at::kHalf || t.scalar_type() == at::kBFloat16;
}

Tensor ok_by_order(const Tensor& x, const Tensor& k) {
  Tensor q = wide(x);
  if (q.scalar_type() > at::kHalf) q = q.to(at::kHalf);
  return attend(q, k, k);
}
Tensor ok_by_size(const Tensor& x, const Tensor& k) {
  Tensor q = wide(x);
  if (q.dtype().itemsize() > k.dtype().itemsize()) q = q.to(at::kHalf);
  return attend(q, k, k);
}
Tensor ok_size_checked(const Tensor& x, const Tensor& k) {
  const Tensor q = wide(x);
  TORCH_CHECK(q.dtype().itemsize() == 2);
  return attend(q, k, k);
}
Tensor ok_counted(const Tensor& x, const Tensor& k) {
  const Tensor q = wide(x);
  if (int(fits_in_16_bits(q)) + int(fits_in_16_bits(k)) == 2) return attend(q, k, k);
  return k;
}
Tensor bad_by_order(const Tensor& x, const Tensor& k) {
  Tensor q = x.to(at::kFloat) * 2;  // expect: attention-mixed-dtypes
  if (q.size(0) > k.size(0)) q = q * 2;
  return attend(q, k, k);
}
Tensor bad_size_checked(const Tensor& x, const Tensor& k) {
  const Tensor q = x.to(at::kFloat) * 2;  // expect: attention-mixed-dtypes
  TORCH_CHECK(q.dtype().itemsize() == 4);
  return attend(q, k, k);
}
Tensor bad_counted(const Tensor& x, const Tensor& k) {
  const Tensor q = x.to(at::kFloat) * 2;  // expect: attention-mixed-dtypes
  if (int(q.is_contiguous()) + int(k.is_contiguous()) == 2) return attend(q, k, k);
  return k;
}
