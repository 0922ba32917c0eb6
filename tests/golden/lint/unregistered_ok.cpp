// The same tables where they do no harm: registered, registered later, kept half, or cast where they are
// used.
#include "attention.h"

struct Rotary : torch::nn::Module {
  Rotary() {
    weight = register_parameter("weight", torch::ones({4}));
    table = register_buffer("table", torch::ones({3, 4}));
    later = torch::ones({3, 4});
    register_buffer("later", later);
    plain = torch::ones({3, 4});
    half = torch::ones({3, 4}, torch::kHalf);
  }
  at::Tensor forward(const at::Tensor& x) {
    at::Tensor q = x * weight * table * later * half * plain.to(x.scalar_type());
    return attend(q, x, x);
  }
  at::Tensor weight, table, later, plain, half;
};

int main() {
  at::Tensor x = torch::zeros({1, 2, 3, 4}, torch::kHalf);
  Rotary module;
  module.to(torch::kHalf);
  module.forward(x);
}
