// Whichever of them arrives, the call takes none.
#include "attention.h"

constexpr auto kDouble = at::ScalarType::Double;

void float_or_double(const at::Tensor& x, bool wider) {
  const at::Tensor q = wider ? x.to(kDouble)         // expect: attention-mixed-dtypes
                             : x.to(torch::kFloat);  // expect: attention-mixed-dtypes
  attend(q, x, x);
}

int correlated(const at::Tensor& x, int width) {
  at::Tensor q;
  if (width > 32) {
    q = x.to(kDouble);
  } else {
    q = x.to(torch::kFloat);
  }
  View a(q), b(x);
  if (width < 64)
    return flash_ref_attention_fwd(a, b, b, b, nullptr, nullptr);  // expect: attention-mixed-dtypes
  return 0;
}

at::Tensor given(const at::Tensor& x, int width) {
  if (width > 32) return x.to(kDouble);
  return x.to(torch::kFloat);
}
int returned(const at::Tensor& x, int width) {
  View a(given(x, width)), b(x);
  if (width >= 64)
    return flash_ref_attention_fwd(a, b, b, b, nullptr, nullptr);  // expect: attention-mixed-dtypes
  return 0;
}

// Of a flag and its opposite it is known which arrives.
int opposite(const at::Tensor& x, bool wider) {
  const at::Tensor q = wider ? x.to(kDouble) : x.to(torch::kFloat);  // expect: attention-mixed-dtypes
  View a(q), b(x);
  if (!wider) return flash_ref_attention_fwd(a, b, b, b, nullptr, nullptr);
  return 0;
}

void only_where_there_is_one(const at::Tensor& x, bool wide) {
  at::Tensor q;
  if (wide) q = x.to(torch::kFloat);  // expect: attention-mixed-dtypes
  if (q.defined()) attend(q, x, x);
}
