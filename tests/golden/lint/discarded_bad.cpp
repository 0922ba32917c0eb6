// Casts whose result is dropped: the value that goes on is the uncast one.
#include "attention.h"

struct Rotated : torch::nn::Module {
  Rotated() { scale = register_parameter("scale", torch::ones({4})); }
  at::Tensor forward(const at::Tensor& x) {
    at::Tensor q = x * scale;
    q.to(x.scalar_type());  // expect: discarded-cast
    return attend(q, x, x);
  }
  at::Tensor scale;
};

void like_another(at::Tensor q, const at::Tensor& k) {
  q.type_as(k);  // expect: discarded-cast
  attend(q, k, k);
}

int main() {
  at::Tensor x = torch::zeros({1, 2, 3, 4}, torch::kHalf);
  at::Tensor wide = torch::zeros({1, 2, 3, 4});
  if (wide.dim() == 4) {
    wide.to(torch::kHalf, true);  // expect: discarded-cast
    attend(x, wide, x);
  }
  like_another(torch::zeros({1, 2, 3, 4}), x);
  Rotated().forward(x);
}
