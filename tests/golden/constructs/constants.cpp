// Loops that a constant keeps from running, and those that it does not.
#include <c10/util/irange.h>

#include "attention.h"

using at::Tensor;

namespace {
Tensor widened(Tensor x, int times) {
  for (int i = 0; i < times; ++i) x = x.to(at::kFloat);
  return x;
}
Tensor widened_in_reverse(Tensor x, int times) {
  for (int i = times; i > 0; --i) x = x.to(at::kFloat);
  return x;
}
Tensor widened_over_range(Tensor x, int times) {
  for (const auto i : c10::irange(times)) {
    (void)i;
    x = x.to(at::kFloat);
  }
  return x;
}
Tensor widened_between(Tensor x, int64_t first, int64_t last) {
  for (const auto i : c10::irange(first, last)) {
    (void)i;
    x = x.to(at::kFloat);
  }
  return x;
}
Tensor widened_if(Tensor x, int times, bool up) {
  for (int i = 0; i < times && up; ++i) x = x.to(at::kFloat);
  return x;
}
}  // namespace

void ok_no_round(const Tensor& x) {
  attend(widened(x, 0), x, x);
  attend(widened_in_reverse(x, 0), x, x);
  attend(widened_over_range(x, 0), x, x);
  attend(widened_between(x, 3, 3), x, x);
}
void ok_no_round_for_two_reasons(const Tensor& x, int times) { attend(widened_if(x, times, false), x, x); }

Tensor twice(Tensor x, int times) {
  for (int i = 0; i < times; ++i) x = x.to(at::kFloat);  // expect: attention-mixed-dtypes
  return x;
}
void bad_two_rounds(const Tensor& x) { attend(twice(x, 2), x, x); }

Tensor as_often(Tensor x, int times) {
  for (const auto i : c10::irange(times)) {
    (void)i;
    x = x.to(at::kFloat);  // expect: attention-mixed-dtypes
  }
  return x;
}
void bad_any_rounds(const Tensor& x, int times) { attend(as_often(x, times), x, x); }

void ok_constant(const Tensor& x) {
  constexpr int kTimes = 0;
  Tensor q = x;
  for (int i = 0; i < kTimes; ++i) q = q.to(at::kFloat);
  attend(q, x, x);
}
template <int kTimes>
Tensor widened_by_template(Tensor x) {
  for (int i = 0; i < kTimes; ++i) x = x.to(at::kFloat);
  return x;
}
void ok_template(const Tensor& x) { attend(widened_by_template<0>(x), x, x); }

struct Steps {
  int warm = 0;
  int count = 2;
};
void ok_field(const Tensor& x) {
  const Steps steps;
  Tensor q = x;
  for (int i = 0; i < steps.warm; ++i) q = q.to(at::kFloat);
  attend(q, x, x);
}
void bad_field(const Tensor& x) {
  const Steps steps;
  Tensor q = x;
  for (int i = 0; i < steps.count; ++i) q = q.to(at::kFloat);  // expect: attention-mixed-dtypes
  attend(q, x, x);
}
Tensor counted_down(Tensor x, int times) {
  while (times--) x = x.to(at::kFloat);
  return x;
}
Tensor counted_down_to_zero(Tensor x, int times) {
  for (int i = times; i-- > 0;) x = x.to(at::kFloat);
  return x;
}
void ok_counted_down(const Tensor& x) {
  attend(counted_down(x, 0), x, x);
  attend(counted_down_to_zero(x, 0), x, x);
}
Tensor as_often_down(Tensor x, int times) {
  while (times--) x = x.to(at::kFloat);  // expect: attention-mixed-dtypes
  return x;
}
void bad_counted_down(const Tensor& x) { attend(as_often_down(x, 2), x, x); }
// The body of `do` runs whatever is asked behind it.
void bad_do(const Tensor& x) {
  Tensor q = x;
  int i = 0;
  do {
    q = q.to(at::kFloat);  // expect: attention-mixed-dtypes
  } while (++i < 0);
  attend(q, x, x);
}
