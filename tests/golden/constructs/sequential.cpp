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

// How many modules there are is not known, but none of them changes the dtype.
struct BadFilledInLoop : nn::Module {
  nn::Sequential net;
  explicit BadFilledInLoop(int count) {
    net->push_back(nn::Linear(8, 8));
    for (int i = 0; i < count; ++i) {
      net->push_back(nn::Linear(8, 8));
      if (i + 1 < count) net->push_back(nn::GELU());
    }
    net->push_back(nn::LayerNorm(nn::LayerNormOptions({8})));
    register_module("net", net);
    to(torch::kHalf);
  }
  void forward(const Tensor& x) {
    const Tensor h = x.to(torch::kHalf);
    attend(net->forward(h) * torch::ones({8}), h, h);  // expect: attention-implicit-promotion
  }
};
struct OkFilledInLoop : nn::Module {
  nn::Sequential net;
  explicit OkFilledInLoop(int count) {
    for (int i = 0; i < count; ++i) net->push_back(nn::Linear(8, 8));
    register_module("net", net);
    net->to(torch::kHalf);
  }
  void forward(const Tensor& x) {
    const Tensor h = x.to(torch::kHalf);
    attend(net->forward(h), h, h);
  }
};
// One of them may change it.
struct WideImpl : nn::Module {
  Tensor forward(const Tensor& x) { return x.to(torch::kFloat); }
};
TORCH_MODULE(Wide);
struct OkWidePerhaps : nn::Module {
  nn::Sequential net;
  explicit OkWidePerhaps(int count) {
    for (int i = 0; i < count; ++i) {
      net->push_back(nn::ReLU());
      if (i > 3) net->push_back(Wide());
    }
  }
  void forward(const Tensor& x) {
    const Tensor h = x.to(torch::kHalf);
    attend(net->forward(h), h, h);
  }
};
// Under autocast a LayerNorm on CUDA widens, and which of the modules comes last is not known. That makes a
// miss of OkWidensLast.
struct OkWidensInLoop : nn::Module {
  nn::Sequential net;
  explicit OkWidensInLoop(int count) {
    for (int i = 0; i < count; ++i) {
      net->push_back(nn::LayerNorm(nn::LayerNormOptions({8})));
      net->push_back(nn::Linear(8, 8));
    }
    register_module("net", net);
  }
  void forward(const Tensor& x) {
    const Tensor h = x.to(torch::kHalf);
    attend(net->forward(h), h, h);
  }
};
struct OkWidensLast : nn::Module {
  nn::Sequential net;
  explicit OkWidensLast(int count) {
    for (int i = 0; i < count; ++i) {
      net->push_back(nn::Linear(8, 8));
      net->push_back(nn::LayerNorm(nn::LayerNormOptions({8})));
    }
    register_module("net", net);
  }
  void forward(const Tensor& x) {
    const Tensor h = x.to(torch::kHalf);
    attend(net->forward(h), h, h);
  }
};

// Modules with names in braces, and one whose class is behind an AnyModule.
struct BadNamed : nn::Module {
  nn::Sequential net{{{"linear", nn::Linear(8, 8)}, {"activation", nn::ReLU()}}};
  nn::AnyModule last{nn::Linear(8, 8)};
  BadNamed() {
    register_module("net", net);
    register_module("last", last.ptr());
    to(torch::kHalf);
  }
  void forward(const Tensor& x) {
    const Tensor h = x.to(torch::kHalf), wide = torch::ones({8});
    attend(net->forward(h) * wide, h, h);                // expect: attention-implicit-promotion
    attend(last.forward(net->forward(h)) * wide, h, h);  // expect: attention-implicit-promotion
  }
};
struct OkNamed : nn::Module {
  nn::Sequential net{{{"linear", nn::Linear(8, 8)}, {"activation", nn::ReLU()}}};
  nn::AnyModule last, none;
  OkNamed() {
    register_module("net", net);
    last = nn::AnyModule(nn::Linear(8, 8));
    register_module("last", last.ptr());
    to(torch::kHalf);
  }
  void forward(const Tensor& x) {
    const Tensor h = x.to(torch::kHalf);
    attend(net->forward(h), last.forward(h), last.get<nn::Linear>()->forward(h));
    attend(none.forward(h) * torch::ones({8}), h, h);  // throws
  }
};
