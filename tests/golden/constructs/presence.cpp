// Tensors that may be absent: what is made of one where it is there, and questions that hang on that.
#include <ATen/core/Tensor.h>
#include <c10/util/Optional.h>

#include <utility>

#include "attention.h"

using at::Tensor;
using Optional = c10::optional<Tensor>;

namespace presence {

Tensor wide(const Tensor& s) { return s.to(at::kFloat).view({1, 1, 1, 64}); }

void bad_arrow(Tensor q, const Tensor& k, const Optional& s) {
  if (s) q = q * s->to(at::kFloat).view({1, 1, 1, 64});  // expect: attention-mixed-dtypes
  attend(q, k, k);
}
void bad_star(Tensor q, const Tensor& k, Optional s) {
  if (s.has_value()) q = q * (*s).to(at::kFloat).unsqueeze(-1);  // expect: attention-mixed-dtypes
  attend(q, k, k);
}
void bad_null(Tensor q, const Tensor& k, const Optional& s) {
  if (s == c10::nullopt) return;
  const Tensor table = s.value().to(at::kFloat).view({1, 1, 1, 64});
  attend(q * table, k, k);  // expect: attention-implicit-promotion
}

void ok_back(Tensor q, const Tensor& k, const Optional& s) {
  if (s) q = (q * wide(*s)).to(k.scalar_type());
  attend(q, k, k);
}
void ok_twice(Tensor q, const Tensor& k, const Optional& s) {
  if (s) q = q * wide(*s);
  if (s.has_value()) q = q.to(k.scalar_type());
  attend(q, k, k);
}
void ok_kept(Tensor q, const Tensor& k, const Optional& s) {
  const bool has = s.has_value();
  if (has) q = q * wide(*s);
  if (has) q = q.to(k.scalar_type());
  attend(q, k, k);
}
void ok_copied(Tensor q, const Tensor& k, const Optional& s) {
  Tensor t;
  if (s) t = *s;
  if (t.defined()) q = q * wide(t);
  if (s) q = q.to(k.scalar_type());
  attend(q, k, k);
}
void ok_inside(Tensor q, const Tensor& k, const Optional& s) {
  if (s) {
    q = q * wide(*s);
    if (s.has_value()) q = q.to(k.scalar_type());
  }
  attend(q, k, k);
}
// Tables come in pairs, and where there is one there may be a list of them.
void ok_pair(Tensor q, const Tensor& k, const Optional& cos, const Optional& sin) {
  if (cos) q = q * wide(*cos);
  if (sin) q = q.to(k.scalar_type());
  attend(q, k, k);
}
void ok_either(Tensor q, const Tensor& k, const Optional& a, const Optional& b) {
  if (a) q = q * wide(*a);
  if (a || b) q = q.to(k.scalar_type());
  attend(q, k, k);
}
std::pair<Tensor, bool> scaled(const Tensor& q, const Optional& s) {
  if (s) return {q * wide(*s), true};
  return {q, false};
}
void ok_told(const Tensor& q, const Tensor& k, const Optional& s) {
  const auto [x, is_wide] = scaled(q, s);
  attend(is_wide ? x.to(k.scalar_type()) : x, k, k);
}
void ok_other_way(Tensor q, const Tensor& k, const Optional& s) {
  if (s) q = q * wide(*s);
  if (!s) attend(q, k, k);
}

}  // namespace presence
