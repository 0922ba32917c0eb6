// What conditions prove of a dtype, and what they might prove.
#include <algorithm>

#include "attention.h"

bool supported(const at::Tensor& t);

static bool is_half(const at::Tensor& t) {
  return t.scalar_type() == torch::kHalf || t.scalar_type() == torch::kBFloat16;
}

void by_size(at::Tensor q, const at::Tensor& k) {
  if (q.element_size() == 4) q = q.to(k.scalar_type());
  attend(q, k, k);
}

void by_own_function(const at::Tensor& q, const at::Tensor& k) {
  if (is_half(q)) attend(q, k, k);
}

void by_unseen_function(at::Tensor q, const at::Tensor& k) {
  if (!supported(q)) q = q.to(k.scalar_type());
  attend(q, k, k);
}

void by_switch(at::Tensor q, const at::Tensor& k) {
  switch (q.scalar_type()) {
    case torch::kFloat:
      q = q.to(k.scalar_type());
      break;
    default:
      break;
  }
  attend(q, k, k);
}

void in_lambda(const at::Tensor& q, const at::Tensor& k) {
  const auto cast = [&](const at::Tensor& t) {
    return t.scalar_type() == torch::kFloat ? t.to(k.scalar_type()) : t;
  };
  attend(cast(q), k, k);
}

void early(const at::Tensor& q, const at::Tensor& k) {
  if (q.scalar_type() != k.scalar_type()) return;
  attend(q, k, k);
}

// The library does something to the elements that is not seen.
void in_algorithm(const at::Tensor& q, const at::Tensor& k) {
  std::vector<at::Tensor> all = {q, k};
  std::for_each(all.begin(), all.end(), [&](at::Tensor& t) { t = t.to(k.scalar_type()); });
  attend(all[0], all[1], k);
}

int main() {
  const at::Tensor x = torch::zeros({1, 2, 3, 4}, torch::kHalf);
  const at::Tensor wide = x * torch::ones({3, 4}, torch::kFloat);
  by_size(wide, x);
  by_own_function(wide, x);
  by_unseen_function(wide, x);
  by_switch(wide, x);
  in_lambda(wide, x);
  early(wide, x);
  in_algorithm(wide, x);
}
