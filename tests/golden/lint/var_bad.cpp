// VAR: normalisation under autocast, and a float32 parameter with dimensions that meets a half q.
#include "attention.h"

namespace F = torch::nn::functional;

struct AttentionImpl : torch::nn::Module {
  AttentionImpl() {
    scale_mul = register_parameter("scale_mul", torch::full({1, 1, 4, 1}, 4.0));
    qkv = register_module("qkv", torch::nn::Linear(64, 192));
  }
  at::Tensor forward(const at::Tensor& x) {
    auto parts = qkv(x).view({2, 16, 3, 4, 16}).unbind(2);
    at::Tensor q = parts[0], k = parts[1], v = parts[2];
    q = q.mul(scale_mul);  // expect: attention-implicit-promotion
    k = F::normalize(k);   // expect: autocast-fp32-operator
    return attend(q, k, v);
  }
  at::Tensor scale_mul;
  torch::nn::Linear qkv{nullptr};
};
TORCH_MODULE(Attention);

int main() {
  Attention attention;
  attention->qkv->to(torch::kBFloat16);
  at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
  at::autocast::set_enabled(true);
  attention(torch::zeros({2, 16, 64}, torch::kBFloat16));
}
