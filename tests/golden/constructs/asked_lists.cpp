// Checks of dtypes that are asked of several tensors at once: which of them answered is not known, and what
// comes behind need not come with one that is not half.
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "attention.h"

using at::Tensor;

static bool is_half(const Tensor& x) {
  return x.scalar_type() == at::kHalf || x.scalar_type() == at::kBFloat16;
}
static bool all_of_a_list(std::initializer_list<Tensor> all) {
  for (const Tensor& each : all) {
    if (!is_half(each)) return false;
  }
  return true;
}
static bool all_of_a_vector(const std::vector<Tensor>& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].scalar_type() != at::kHalf) return false;
  }
  return true;
}
static bool all_by_and(const std::vector<Tensor>& all) {
  bool out = true;
  for (const Tensor& each : all) out = out && is_half(each);
  return out;
}
static bool all_by_algorithm(const std::vector<Tensor>& all) {
  return std::all_of(all.begin(), all.end(), [](const Tensor& each) { return is_half(each); });
}

Tensor ok_list(const Tensor& x, const Tensor& k) {
  const Tensor q = x.to(at::kFloat) * 2;
  if (!all_of_a_list({q, k, k})) return k;
  return attend(q, k, k);
}
Tensor ok_vector(const Tensor& x, const Tensor& k) {
  const Tensor q = x.to(at::kFloat) * 2;
  if (all_of_a_vector({q, k, k})) return attend(q, k, k);
  return k;
}
Tensor ok_and(const Tensor& x, const Tensor& k) {
  Tensor q = x.to(at::kFloat) * 2;
  if (!all_by_and({q, k, k})) return k;
  return attend(q, k, k);
}
Tensor ok_algorithm(const Tensor& x, const Tensor& k) {
  Tensor q = x.to(at::kFloat) * 2;
  if (!all_by_algorithm({q, k, k})) return k;
  return attend(q, k, k);
}
Tensor ok_in_place(const Tensor& x, const Tensor& k) {
  Tensor q = x.to(at::kFloat) * 2;
  for (const Tensor& each : {q, k, k}) {
    if (!is_half(each)) return each;
  }
  return attend(q, k, k);
}
Tensor ok_cast_where_needed(const Tensor& x, const Tensor& k) {
  std::vector<Tensor> all{x.to(at::kFloat) * 2, k.to(at::kHalf)};
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!is_half(all[i])) all[i] = all[i].to(at::kHalf);
  }
  return attend(all[0], all[1], all[1]);
}
Tensor ok_by_reference(const Tensor& x, const Tensor& k) {
  std::vector<Tensor> all{x.to(at::kFloat) * 2, k.to(at::kHalf)};
  for (std::size_t i = 0; i < all.size(); ++i) {
    Tensor& each = all[i];
    if (is_half(each)) continue;
    each = each.to(at::kHalf);
  }
  return attend(all[0], all[1], all[1]);
}
Tensor ok_compared(const Tensor& x, const Tensor& k) {
  std::vector<Tensor> all{x.to(at::kFloat) * 2, k.to(at::kHalf)};
  for (int i = 0; i < 2; ++i) {
    if (all[i].scalar_type() == at::kFloat) all[i] = all[i].to(at::kHalf);
  }
  return attend(all[0], all[1], all[1]);
}
Tensor ok_flag(const Tensor& x, const Tensor& k) {
  std::vector<Tensor> all{x.to(at::kFloat) * 2, k.to(at::kHalf)};
  bool half = true;
  for (const Tensor& each : all) {
    if (each.scalar_type() != at::kHalf) half = false;
  }
  if (!half) return k;
  return attend(all[0], all[1], all[1]);
}
// Asked of others.
Tensor bad_others(const Tensor& x, const Tensor& k) {
  const Tensor q = x.to(at::kFloat) * 2;  // expect: attention-mixed-dtypes
  if (!all_of_a_list({k, k.to(at::kFloat)})) return attend(q, k, k);
  return k;
}
// Something else than a dtype, of the list or of one of them.
static bool any_is_long(const std::vector<Tensor>& all) {
  for (const Tensor& each : all) {
    if (each.size(0) > 4) return true;
  }
  return false;
}
Tensor bad_lengths(const Tensor& x, const Tensor& k) {
  const Tensor q = x.to(at::kFloat) * 2;  // expect: attention-mixed-dtypes
  const bool is_long = any_is_long({q, k});
  const Tensor out = attend(q, k, k);
  return is_long ? out : k;
}
Tensor bad_behind_lengths(const Tensor& x, const Tensor& k, Tensor y) {
  const Tensor q = x.to(at::kFloat) * 2;  // expect: attention-mixed-dtypes
  if (any_is_long({q, k})) y = y * 2;
  return attend(q, k, k) + y;
}
Tensor bad_sizes(const Tensor& x, const Tensor& k) {
  const Tensor q = x.to(at::kFloat) * 2;  // expect: attention-mixed-dtypes
  if (q.size(0) > 4) return k;
  return attend(q, k, k);
}
