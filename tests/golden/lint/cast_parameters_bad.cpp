// A precision plugin that casts parameters only: the buffer stays float32 and widens q.
#include "attention.h"

struct AttentionImpl : torch::nn::Module {
  AttentionImpl() {
    cos = register_buffer("cos", torch::full({16, 64}, 1.0));
    qkv = register_module("qkv", torch::nn::Linear(64, 64));
  }
  at::Tensor forward(const at::Tensor& x) {
    at::Tensor v = qkv(x);
    at::Tensor q = v * cos;  // expect: attention-implicit-promotion
    return attend(q, v, v);
  }
  at::Tensor cos;
  torch::nn::Linear qkv{nullptr};
};
TORCH_MODULE(Attention);

void cast_parameters(torch::nn::Module& model, at::ScalarType dtype) {
  for (at::Tensor& each : model.parameters()) each.set_data(each.to(dtype));
}

int main() {
  Attention attention;
  cast_parameters(*attention.get(), torch::kBFloat16);
  attention->forward(torch::zeros({2, 16, 64}, torch::kBFloat16));
}
