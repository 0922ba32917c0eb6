// RWKV-7's token shift: under autocast addcmul with a float32 parameter widens, but the projection behind it
// gives the autocast dtype back, so nothing wide reaches the call.
#include "attention.h"

struct MixImpl : torch::nn::Module {
  MixImpl() {
    x_r = register_parameter("x_r", torch::full({1, 1, 64}, 0.5));
    x_k = register_parameter("x_k", torch::full({1, 1, 64}, 0.5));
    r_proj = register_module("r_proj", torch::nn::Linear(64, 64));
    k_proj = register_module("k_proj", torch::nn::Linear(64, 64));
  }
  at::Tensor forward(const at::Tensor& hidden, const at::Tensor& delta) {
    at::Tensor r = r_proj(hidden.addcmul(delta, x_r));
    at::Tensor k = k_proj(hidden.addcmul(delta, x_k));
    return attend(r, k, k);
  }
  at::Tensor x_r, x_k;
  torch::nn::Linear r_proj{nullptr}, k_proj{nullptr};
};
TORCH_MODULE(Mix);

int main() {
  Mix mix;
  at::autocast::set_autocast_dtype(at::kCUDA, at::kBFloat16);
  at::autocast::set_autocast_enabled(at::kCUDA, true);
  mix->forward(torch::zeros({2, 16, 64}), torch::zeros({2, 16, 64}));
}
