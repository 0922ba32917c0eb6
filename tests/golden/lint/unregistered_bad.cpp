// Tables that a module keeps in plain members: Module::to passes them by.
#include "attention.h"

struct Rotary : torch::nn::Module {
  Rotary() {
    weight = register_parameter("weight", torch::ones({4}));
    table = torch::ones({3, 4}) * 2.0;  // expect: unregistered-buffer
  }
  at::Tensor forward(const at::Tensor& x) {
    at::Tensor q = x * weight;
    q = q * table;
    return attend(q, x, x);
  }
  at::Tensor weight, table;
};

struct Tables : torch::nn::Module {
  Tables() : cos(torch::ones({3, 2})) {  // expect: unregistered-buffer
    weight = register_parameter("weight", torch::ones({4}));
  }
  void forward(const at::Tensor& x) { rotary(x * weight, cos, cos); }
  at::Tensor weight, cos;
};

int main() {
  at::Tensor x = torch::zeros({1, 2, 3, 4}, torch::kHalf);
  Rotary first;
  first.to(torch::kHalf);
  first.forward(x);
  Tables second;
  second.to(torch::kHalf);
  second.forward(x);
}
