// A copy of a container or of a plain object has contents of its own; a reference has not.
#include <array>
#include <optional>
#include <vector>

#include "attention.h"

using at::Tensor;
void ok_copy(const Tensor& x) {
  std::vector<Tensor> a = {x, x};
  auto b = a;
  b[0] = b[0] * torch::ones({8});
  attend(a[0], x, x);
}
void ok_copy_by_value(std::vector<Tensor> a, const Tensor& x) {
  auto f = [](std::vector<Tensor> c) {
    c[0] = c[0] * torch::ones({8});
    return c;
  };
  auto r = f(a);
  attend(a[0], x, x);
}
static Tensor first(std::vector<Tensor> c) {
  c[0] = c[0] * torch::ones({8});
  return c[0];
}
void ok_copy_to_callee(const Tensor& x) {
  std::vector<Tensor> a = {x, x};
  first(a);
  attend(a[0], x, x);
}
struct P {
  Tensor q, k;
};
static Tensor changed(P p) {
  p.q = p.q * torch::ones({8});
  return p.q;
}
void ok_struct_copy(const Tensor& x) {
  P a{x, x};
  changed(a);
  P b = a;
  b.k = b.k * torch::ones({8});
  attend(a.q, a.k, x);
}
void ok_optional_copy(const Tensor& x) {
  std::optional<Tensor> a = x;
  auto b = a;
  b = *b * torch::ones({8});
  attend(*a, x, x);
}
void ok_field_by_field(const Tensor& x) {
  P a{x, x};
  P b;
  b = a;
  b.q = a.q * torch::ones({8});
  attend(a.q, a.k, x);
}
void bad_copy(const Tensor& x) {
  std::vector<Tensor> a = {x * torch::ones({8}), x};  // expect: attention-implicit-promotion
  const auto b = a;
  a[0] = x;
  attend(b[0], a[0], x);
}
void bad_reference(const Tensor& x) {
  P a{x, x};
  P& b = a;
  b.q = b.q * torch::ones({8});  // expect: attention-implicit-promotion
  attend(a.q, a.k, x);
}
static void widen(P& p) { p.q = p.q * torch::ones({8}); }  // expect: attention-implicit-promotion
void bad_by_reference(const Tensor& x) {
  P a{x, x};
  widen(a);
  attend(a.q, a.k, x);
}
static void restore(P& p, const Tensor& x) {
  P half{x, x};
  p = half;
}
void ok_assigned_through(const Tensor& x) {
  P a{x * torch::ones({8}), x};
  restore(a, x);
  attend(a.q, a.k, x);
}
void ok_nested(const Tensor& x) {
  std::vector<std::vector<Tensor>> rows = {{x}, {x}};
  auto other = rows;
  other[0][0] = x * torch::ones({8});
  attend(rows[0][0], rows[1][0], x);
}
