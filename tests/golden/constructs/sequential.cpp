// torch::nn::Sequential: what one module gives, the next takes.
#include <torch/nn/modules.h>

#include "attention.h"

using at::Tensor;
namespace nn = torch::nn;

struct BadHalf : nn::Module {
  nn::Sequential net{nullptr};
  BadHalf() {
    net = register_module("net", nn::Sequential(nn::Linear(8, 8), nn::ReLU(), nn::Linear(8, 8)));
    to(torch::kHalf);
  }
  void forward(const Tensor& x) {
    const Tensor q = net->forward(x.to(torch::kHalf));
    attend(q * torch::ones({8}), q, q);  // expect: attention-implicit-promotion
  }
};
struct BadPushed : nn::Module {
  nn::Sequential net;
  BadPushed() {
    net->push_back(nn::Linear(8, 8));
    net->push_back("activation", nn::GELU());
    register_module("net", net);
    net->to(torch::kBFloat16);
  }
  void forward(const Tensor& x) {
    const Tensor q = net->forward(x.to(torch::kBFloat16));
    attend(q + torch::ones({8}), q, q);  // expect: attention-implicit-promotion
  }
};
struct OkHalf : nn::Module {
  nn::Sequential net{nn::Linear(8, 8), nn::LayerNorm(nn::LayerNormOptions({8})), nn::Dropout()};
  OkHalf() {
    register_module("net", net);
    to(torch::kHalf);
  }
  void forward(const Tensor& x) {
    const Tensor h = x.to(torch::kHalf);
    attend(net->forward(h), h, h);
  }
};

// A module of one's own in it, and one Sequential in another.
struct BlockImpl : nn::Module {
  nn::Linear linear{nullptr};
  BlockImpl() { linear = register_module("linear", nn::Linear(8, 8)); }
  Tensor forward(const Tensor& x) {
    return linear(x) * torch::ones({8});  // expect: attention-implicit-promotion
  }
};
TORCH_MODULE(Block);
struct BadNested : nn::Module {
  nn::Sequential net{nullptr};
  BadNested() {
    net = register_module("net", nn::Sequential(nn::Sequential(nn::Linear(8, 8), nn::ReLU()), Block()));
    to(torch::kHalf);
  }
  void forward(const Tensor& x) {
    const Tensor h = x.to(torch::kHalf);
    attend(net->forward(h), h, h);
  }
};

// Known misses. How many modules there are is not seen:
struct OkFilledInLoop : nn::Module {
  nn::Sequential net;
  explicit OkFilledInLoop(int count) {
    for (int i = 0; i < count; ++i) net->push_back(nn::Linear(8, 8));
    register_module("net", net);
    to(torch::kHalf);
  }
  void forward(const Tensor& x) {
    const Tensor h = x.to(torch::kHalf);
    attend(net->forward(h) * torch::ones({8}), h, h);
  }
};
// modules with names in braces,
struct OkNamed : nn::Module {
  nn::Sequential net{{{"linear", nn::Linear(8, 8)}, {"activation", nn::ReLU()}}};
  OkNamed() {
    register_module("net", net);
    to(torch::kHalf);
  }
  void forward(const Tensor& x) {
    const Tensor h = x.to(torch::kHalf);
    attend(net->forward(h) * torch::ones({8}), h, h);
  }
};
