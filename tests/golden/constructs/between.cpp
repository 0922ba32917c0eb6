// Numbers that cannot be: below 0 where they count, or beyond what they were kept between.
#include <algorithm>
#include <limits>

#include "attention.h"

using at::Tensor;

void ok_clamped(const Tensor& x, int n) {
  n = std::clamp(n, 0, 3);
  Tensor q = x;
  if (n > 5) q = q.to(at::kFloat);
  if (n < 0 || n == 4) q = q.to(at::kFloat);
  attend(q, x, x);
}
void bad_clamped(const Tensor& x, int n) {
  n = std::clamp(n, 0, 3);
  Tensor q = x;
  if (n > 2) q = q.to(at::kFloat);  // expect: attention-mixed-dtypes
  attend(q, x, x);
}
void ok_at_least(const Tensor& x, int n) {
  const int count = std::max(n, 1);
  Tensor q = x;
  if (count == 0) q = q.to(at::kFloat);
  attend(q, x, x);
}
void bad_at_least(const Tensor& x, int n) {
  const int count = std::max(n, 1);
  Tensor q = x;
  if (count == 1) q = q.to(at::kFloat);  // expect: attention-mixed-dtypes
  attend(q, x, x);
}
void ok_of_constants(const Tensor& x) {
  const int few = 2, many = 3;
  Tensor q = x;
  if (std::min(few, many) == 3) q = q.to(at::kFloat);
  attend(q, x, x);
}
void bad_of_constants(const Tensor& x) {
  const int few = 2, many = 3;
  Tensor q = x;
  if (std::max(few, many) == 3) q = q.to(at::kFloat);  // expect: attention-mixed-dtypes
  attend(q, x, x);
}
// Something else since.
void bad_clamped_before(const Tensor& x, int n, int other) {
  n = std::clamp(n, 0, 3);
  n = other;
  Tensor q = x;
  if (n > 5) q = q.to(at::kFloat);  // expect: attention-mixed-dtypes
  attend(q, x, x);
}

void ok_unsigned(const Tensor& x, unsigned n, size_t size) {
  Tensor q = x;
  if (n < 0u) q = q.to(at::kFloat);
  if (!(size >= 0)) q = q.to(at::kFloat);
  if (0 > size) q = q.to(at::kFloat);
  attend(q, x, x);
}
void bad_unsigned(const Tensor& x, unsigned n) {
  Tensor q = x;
  if (n > 0u) q = q.to(at::kFloat);  // expect: attention-mixed-dtypes
  attend(q, x, x);
}
void ok_sizes(const Tensor& x) {
  const auto rows = std::min<int64_t>(x.size(0), 8);
  Tensor q = x;
  if (x.size(1) < 0) q = q.to(at::kFloat);
  if (rows < 0 || rows > 8) q = q.to(at::kFloat);
  attend(q, x, x);
}
void bad_size(const Tensor& x) {
  Tensor q = x;
  if (x.size(1) <= 4) q = q.to(at::kFloat);  // expect: attention-mixed-dtypes
  attend(q, x, x);
}
void bad_largest_number(const Tensor& x) {
  const size_t rows = x.size(0);
  Tensor q = x;
  if (rows < std::numeric_limits<size_t>::max()) q = q.to(at::kFloat);  // expect: attention-mixed-dtypes
  attend(q, x, x);
}
