// State that ends with its scope: what runs after the guard is under autocast again.
#include "attention.h"

namespace F = torch::nn::functional;

struct AutocastOff {
  AutocastOff() { at::autocast::set_enabled(false); }
  ~AutocastOff() { at::autocast::set_enabled(true); }
};

int main() {
  at::Tensor x = torch::zeros({1, 2, 3, 4}, torch::kHalf);
  at::autocast::set_autocast_gpu_dtype(at::kHalf);
  at::autocast::set_enabled(true);
  {
    AutocastOff off;
    at::Tensor k = F::normalize(x);
    attend(x, k, x);
  }
  {
    c10::impl::ExcludeDispatchKeyGuard off(c10::DispatchKey::AutocastCUDA);
    at::Tensor k = F::normalize(x);
    attend(x, k, x);
  }
  at::Tensor k = F::normalize(x);  // expect: autocast-fp32-operator
  attend(x, k, x);
}
