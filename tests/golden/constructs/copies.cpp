// A copy of a container or of a plain object has contents of its own; a reference has not.
#include <array>
#include <optional>
#include <tuple>
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

// A list holds copies of what is put into it, so does a pair and an optional.
void ok_changed_later(const Tensor& x, int n) {
  std::vector<P> list;
  P a{x, x};
  list.push_back(a);
  list.emplace_back(a);
  const auto pair = std::make_pair(a, 1);
  const std::optional<P> kept = a;
  auto other = kept;
  a.q = x * torch::ones({8});
  other->q = a.q;
  attend(list[0].q, list[1].q, x);
  attend(pair.first.q, kept->q, x);
  std::vector<P> more;
  for (int i = 0; i < n; ++i) {
    P b{x, x};
    more.push_back(b);
    b.k = a.q;
  }
  for (const P& each : more) attend(each.q, each.k, x);
}
void bad_changed_later(const Tensor& x) {
  std::vector<P> list;
  P a{x * torch::ones({8}), x};  // expect: attention-implicit-promotion
  list.push_back(a);
  a.q = x;
  attend(list[0].q, a.q, x);
}
void bad_kept_copy(const Tensor& x) {
  P a{x * torch::ones({8}), x};  // expect: attention-implicit-promotion
  const std::optional<P> kept = a;
  a.q = x;
  attend(kept->q, a.q, x);
}
void bad_swapped(const Tensor& x) {
  P a{x, x}, b{x * torch::ones({8}), x};  // expect: attention-implicit-promotion
  std::tie(a, b) = std::make_tuple(b, a);
  attend(a.q, a.k, x);
}
void ok_swapped(const Tensor& x) {
  P a{x, x}, b{x * torch::ones({8}), x};
  std::tie(a, b) = std::make_tuple(b, a);
  attend(b.q, b.k, x);
}
// A tie that is kept can be written through.
void ok_kept_tie(const Tensor& x) {
  Tensor a = x * torch::ones({8}), b = x;
  auto both = std::tie(a, b);
  std::get<0>(both) = x;
  attend(a, b, x);
}
// What is pointed to is no copy.
void bad_pointed_to(const Tensor& x) {
  std::vector<P*> list;
  P a{x, x};
  list.push_back(&a);
  a.q = x * torch::ones({8});  // expect: attention-implicit-promotion
  attend(list[0]->q, x, x);
}

// What a list makes of several arguments.
struct Made {
  Tensor q, k;
  Made(Tensor first, Tensor second) : q(first), k(second) {}
};
struct Either {
  Tensor q;
  Either(Tensor first, double by) : q(first * by) {}
  Either(Tensor first, Tensor second) : q(first * second) {}
};
void bad_made(const Tensor& x) {
  std::vector<Made> list;
  list.emplace_back(x, x * torch::ones({8}));  // expect: attention-implicit-promotion
  attend(list[0].q, list[0].k, x);
}
void bad_made_pairs(const Tensor& x, int n) {
  std::vector<std::pair<Tensor, Tensor>> list;
  for (int i = 0; i < n; ++i) {
    const Tensor wide = x * torch::ones({8});  // expect: attention-implicit-promotion
    list.emplace_back(x, wide);
  }
  for (const auto& [q, k] : list) attend(q, k, x);
}
void bad_made_list(const Tensor& x) {
  std::vector<std::vector<Tensor>> list;
  list.emplace_back(2, x * torch::ones({8}));  // expect: attention-implicit-promotion
  attend(list[0][0], x, x);
}
void ok_made(const Tensor& x) {
  const Tensor wide = x * torch::ones({8});
  std::vector<Made> list;
  list.emplace_back(x, wide);
  std::vector<std::pair<Tensor, Tensor>> pairs;
  pairs.emplace_back(wide, x);
  pairs.emplace_back(std::piecewise_construct, std::forward_as_tuple(x), std::forward_as_tuple(wide));
  std::vector<Either> either;
  either.emplace_back(x, torch::ones({8}, x.options()));
  attend(list[0].q, pairs[0].second, either[0].q);
  attend(pairs[1].first, x, x);
}
// The element that was added, by reference.
void bad_added(const Tensor& x) {
  std::vector<Made> list;
  Made& last = list.emplace_back(x, x);
  last.k = x * torch::ones({8});  // expect: attention-implicit-promotion
  attend(list[0].q, list[0].k, x);
}
void ok_added(const Tensor& x) {
  std::vector<Made> list;
  Made& last = list.emplace_back(x, x * torch::ones({8}));
  last.k = x;
  std::vector<Tensor> tensors;
  Tensor& tensor = tensors.emplace_back(x * torch::ones({8}));
  tensor = x;
  attend(list[0].k, tensors[0], x);
}
