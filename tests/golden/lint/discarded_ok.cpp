// Statements that look like a dropped cast and are none: a module converts in place, a cast to void says so,
// a tensor that never reaches a call does not matter, and what a macro wraps may be meant to throw.
#include "attention.h"

#define EXPECT_THROWS(expression) expression

struct Rotated : torch::nn::Module {
  Rotated() { scale = register_parameter("scale", torch::ones({4})); }
  at::Tensor scale;
};

int main() {
  at::Tensor x = torch::zeros({1, 2, 3, 4}, torch::kHalf);
  at::Tensor wide = torch::zeros({1, 2, 3, 4});
  Rotated module;
  module.to(torch::kHalf);
  attend(x * module.scale, x, x);
  (void)wide.to(torch::kHalf);
  wide.to(torch::kHalf);
  EXPECT_THROWS(wide.to(torch::kHalf));
  at::Tensor narrow = wide.to(torch::kHalf);
  attend(narrow, x, x);
  x.to(torch::kFloat);
  attend(x, x, x);
  wide = wide.to(torch::kHalf);
  wide.to(torch::kCUDA);
  attend(wide, x, x);
}
