// Which of its results a function gives hangs on what decides whether the call is reached.
#include "attention.h"

at::Tensor widened_or_not(const at::Tensor& x, bool wide) {
  if (wide) return x.to(torch::kFloat);
  return x;
}

void when_not_widened(const at::Tensor& x, bool wide) {
  const at::Tensor q = widened_or_not(x, wide);
  if (!wide) attend(q, x, x);
}

class Attention {
 public:
  at::Tensor prepared(const at::Tensor& x) {
    if (wide_) return x.to(torch::kFloat);
    return x;
  }
  void forward(const at::Tensor& x) {
    const at::Tensor q = prepared(x);
    if (!wide_) attend(q, x, x);
  }

 private:
  bool wide_;
};

int main(int argc, char**) {
  const at::Tensor x = torch::zeros({1, 2}, torch::kHalf);
  when_not_widened(x, argc > 1);
  Attention().forward(x);
}
