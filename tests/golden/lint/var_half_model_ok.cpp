// VAR's arithmetic as a pure half model: the parameter was converted with everything else, so q and k stay
// half.
#include "attention.h"

struct AttentionImpl : torch::nn::Module {
  AttentionImpl() {
    scale_mul = register_parameter("scale_mul", torch::full({1, 1, 4, 1}, 4.0));
    qkv = register_module("qkv", torch::nn::Linear(64, 192));
  }
  at::Tensor forward(const at::Tensor& x) {
    auto parts = qkv(x).view({2, 16, 3, 4, 16}).unbind(2);
    at::Tensor q = parts[0], k = parts[1], v = parts[2];
    q = torch::nn::functional::normalize(q).mul(scale_mul);
    k = torch::nn::functional::normalize(k);
    return attend(q, k, v);
  }
  at::Tensor scale_mul;
  torch::nn::Linear qkv{nullptr};
};
TORCH_MODULE(Attention);

int main() {
  Attention attention;
  attention->to(torch::kHalf);
  attention(torch::zeros({2, 16, 64}, torch::kHalf));
}
