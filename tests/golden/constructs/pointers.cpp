// Functions that are called through pointers.
#include "attention.h"

using at::Tensor;

static Tensor doubled(const Tensor& q) { return q * 2; }
static Tensor widened(const Tensor& q) {
  return q * torch::ones({8});  // expect: attention-implicit-promotion
}
void bad_named(const Tensor& q) {
  Tensor (*made)(const Tensor&) = widened;
  attend(made(q), q, q);
}
static Tensor added(const Tensor& q) { return q + torch::ones({8}); }  // expect: attention-implicit-promotion
static Tensor applied(Tensor (*function)(const Tensor&), const Tensor& q) { return function(q); }
void bad_passed(const Tensor& q) { attend(applied(&added, q), applied(doubled, q), q); }
static void widen(Tensor& q) { q = q - torch::ones({8}); }  // expect: attention-implicit-promotion
void bad_by_reference(Tensor q, const Tensor& k) {
  void (*const change)(Tensor&) = &widen;
  change(q);
  attend(q, k, k);
}
void ok_named(const Tensor& q) {
  const auto made = &doubled;
  attend(made(q), (*made)(q), q);
}
void ok_one_of_two(const Tensor& q, bool wide) {
  Tensor (*made)(const Tensor&) = wide ? widened : doubled;
  attend(made(q).to(q.dtype()), q, q);
}
