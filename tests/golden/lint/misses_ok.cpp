// Known misses: each of these is a defect that dtype-lint does not see. A line that is found one day moves to
// a fixture that expects it.
#include "attention.h"

// Dropped casts that reach no call.
void unused(const at::Tensor& x) { x.to(torch::kFloat); }

// Elements that are replaced through an iterator, one after the other.
void by_iterator(const at::Tensor& x, const at::Tensor& table) {
  std::vector<at::Tensor> parts = {x, x};
  for (auto it = parts.begin(); it != parts.end(); ++it) *it = *it * table;
  attend(parts[0], x, x);
}

// The same index twice, of a list that the caller filled.
void by_index(std::vector<at::Tensor>& cache, const at::Tensor& x, const at::Tensor& table, int layer) {
  cache[layer] = x * table;
  attend(x, cache[layer], x);
}

// Each of several variables, by its address.
void by_pointer(const at::Tensor& x) {
  at::Tensor q = x, k = x;
  for (at::Tensor* each : {&q, &k}) *each = each->to(torch::kFloat);
  attend(q, k, x);
}

// The last of a list that a loop began.
void by_position(const at::Tensor& x) {
  std::vector<at::Tensor> parts;
  for (int i = 0; i < 3; ++i) parts.push_back(x);
  parts.push_back(x.to(torch::kFloat));
  attend(parts[3], parts[0], x);
}

int main(int argc, char**) {
  const at::Tensor x = torch::zeros({1, 2, 3, 4}, torch::kHalf), table = torch::ones({3, 4});
  unused(x);
  by_iterator(x, table);
  std::vector<at::Tensor> cache = {x, x};
  by_index(cache, x, table, argc - 1);
  by_pointer(x);
  by_position(x);
}
