// In a file with main, what main does not reach is a root of its own: external code calls it, or takes its
// address.
#include "attention.h"

struct Scaled : torch::nn::Module {
  Scaled() { scale = register_parameter("scale", torch::ones({4})); }
  at::Tensor forward(const at::Tensor& x) {
    at::Tensor q = x * scale;  // expect: attention-implicit-promotion
    return attend(q, x, x);
  }
  at::Tensor scale;
};

static at::Tensor registered(const at::Tensor& x) {
  const at::Tensor wide = x.to(torch::kFloat) * 2.0;  // expect: attention-mixed-dtypes
  return attend(wide, x, x);
}
using Kernel = at::Tensor (*)(const at::Tensor&);
Kernel kernel() { return registered; }

// Reached from main only, with half operands.
static at::Tensor reached(const at::Tensor& x, const at::Tensor& scale) { return attend(x * scale, x, x); }

int main() {
  at::Tensor x = torch::zeros({1, 2, 3, 4}, torch::kHalf);
  reached(x, torch::ones({4}, torch::kHalf));
}
