// Modules: what is registered and what is not, containers of modules, inheritance, conversions.
#include <ATen/autocast_mode.h>
#include <ATen/core/Tensor.h>
#include <torch/nn/functional/normalization.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include <string>
#include <vector>

#include "attention.h"

using at::Tensor;
namespace nn = torch::nn;

// Parameters, buffers, plain members.
struct ScaledImpl : nn::Module {
  ScaledImpl() { scale = register_parameter("scale", torch::ones({8})); }
  Tensor forward(const Tensor& x) {
    Tensor q = x * scale;  // expect: attention-implicit-promotion
    return attend(q, x, x);
  }
  Tensor scale;
};
TORCH_MODULE(Scaled);

struct TabledImpl : nn::Module {
  explicit TabledImpl(int64_t size)
      : table(register_buffer("table", torch::arange(size, torch::kFloat32).cos())) {}
  Tensor forward(const Tensor& x) {
    Tensor q = x * table;  // expect: attention-implicit-promotion
    return attend(q, x, x);
  }
  Tensor table;
};

struct PlainImpl : nn::Module {
  PlainImpl() : table_(torch::ones({8})) {}  // expect: unregistered-buffer
  Tensor forward(const Tensor& x) {
    Tensor q = x * table_;
    return attend(q, x, x);
  }

 private:
  Tensor table_;
};

// A loop registers them, and a list keeps them as well.
struct TablesImpl : nn::Module {
  explicit TablesImpl(int count) {
    for (int i = 0; i < count; ++i)
      tables.push_back(register_buffer("table" + std::to_string(i), torch::ones({8})));
  }
  Tensor forward(const Tensor& x) {
    Tensor q = x * tables[0];  // expect: attention-implicit-promotion
    return attend(q, (x * tables[1]).to(x.dtype()), x);
  }
  std::vector<Tensor> tables;
};

struct MadeInDtypeImpl : nn::Module {
  MadeInDtypeImpl(int64_t size, const torch::TensorOptions& options) {
    cos_ = register_buffer("cos", torch::arange(size, torch::kFloat).cos().to(options.dtype()));
  }
  Tensor forward(const Tensor& x) { return attend(x * cos_.to(x.dtype()), x * cos_.index({0}).sum(), x); }
  Tensor cos_;
};

// Layers of the library.
struct LayersImpl : nn::Module {
  LayersImpl() {
    qkv = register_module("qkv", nn::Linear(nn::LinearOptions(8, 24).bias(false)));
    norm = register_module("norm", nn::LayerNorm(nn::LayerNormOptions({8})));
    drop = register_module("drop", nn::Dropout(0.1));
    embed = register_module("embed", nn::Embedding(16, 8));
  }
  Tensor forward(const Tensor& x, const Tensor& ids) {
    auto parts = drop(qkv->forward(x)).chunk(3, -1);
    return attend(parts[0], parts[1], parts[2]);
  }
  Tensor embedded(const Tensor& ids) {
    auto parts = qkv(embed(ids)).unbind(-1);
    return attend(parts[0], parts[1], parts[2]);
  }
  nn::Linear qkv{nullptr};
  nn::LayerNorm norm{nullptr};
  nn::Dropout drop{nullptr};
  nn::Embedding embed{nullptr};
};
TORCH_MODULE(Layers);

// A block in a ModuleList or a Sequential is a module like any other.
struct BlocksImpl : nn::Module {
  BlocksImpl() {
    for (int i = 0; i < 4; ++i) blocks->push_back(Scaled());
    register_module("blocks", blocks);
    for (int i = 0; i < 2; ++i) list_.push_back(register_module("block" + std::to_string(i), Scaled()));
    parts = register_module("parts", nn::Sequential(nn::Linear(8, 8), nn::Dropout(0.5)));
  }
  Tensor forward(Tensor x) {
    for (auto& each : list_) x = each->forward(x);
    for (size_t i = 0; i < list_.size(); ++i) x = list_[i](x);
    for (const auto& each : *blocks) x = each->as<ScaledImpl>()->forward(x);
    Tensor q = parts->forward(x);
    return attend(q, q, q);
  }
  nn::ModuleList blocks;
  std::vector<Scaled> list_;
  nn::Sequential parts{nullptr};
};

struct WeightedImpl : nn::Module {
  WeightedImpl() { weight = register_parameter("weight", torch::ones({8})); }
  Tensor forward(const Tensor& x) { return x * weight; }  // expect: attention-implicit-promotion
  Tensor weight;
};
TORCH_MODULE(Weighted);
struct StackImpl : nn::Module {
  StackImpl() {
    register_module("list", list);
    for (int i = 0; i < 3; ++i) list->push_back(Weighted());
  }
  Tensor forward(Tensor x) {
    for (size_t i = 0; i < list->size(); ++i) x = list->ptr<WeightedImpl>(i)->forward(x);
    return x;
  }
  nn::ModuleList list;
};
TORCH_MODULE(Stack);
void bad_list_of_modules() {
  Stack model;
  const Tensor x = torch::zeros({2, 8}, torch::kHalf);
  attend(model->forward(x), x, x);
}
void ok_list_of_modules() {
  Stack model;
  model->to(torch::kHalf);
  const Tensor x = torch::zeros({2, 8}, torch::kHalf);
  attend(model->forward(x), x, x);
}
struct MixedImpl : nn::Module {
  MixedImpl() { weight = register_parameter("weight", torch::ones({8})); }
  Tensor weight;
};
TORCH_MODULE(Mixed);
void bad_converted() {
  Mixed model;
  model->to(torch::kFloat);
  const Tensor x = torch::zeros({2, 8}, torch::kHalf);
  attend(x * model->weight, x, x);  // expect: attention-implicit-promotion
}

// Inheritance: a member of the base, a constructor of the base, an override.
struct BaseImpl : nn::Module {
  explicit BaseImpl(const Tensor& made) { scale = register_parameter("scale", made); }
  virtual Tensor widen(const Tensor& x) { return x * scale.to(x.dtype()); }
  Tensor scale;
};
struct DerivedImpl : BaseImpl {
  DerivedImpl() : BaseImpl(torch::ones({8})) {}
  Tensor widen(const Tensor& x) override { return x + scale; }  // expect: attention-implicit-promotion
  Tensor forward(const Tensor& x) { return attend(widen(x), x, x); }
};
struct FaithfulImpl : BaseImpl {
  FaithfulImpl() : BaseImpl(torch::ones({8})) {}
  Tensor forward(const Tensor& x) { return attend(BaseImpl::widen(x), x, x); }
};

// Conversions that are seen.
void ok_converted() {
  Scaled model;
  model->to(torch::kHalf);
  Tensor x = torch::zeros({2, 8}, torch::kHalf);
  Tensor q = x * model->scale;
  attend(q, x, x);
}
void ok_parameter_set() {
  Scaled model;
  model->scale.set_data(model->scale.to(torch::kHalf));
  Tensor x = torch::zeros({2, 8}, torch::kHalf);
  attend(x * model->scale, x, x);
}
void ok_layer_set() {
  nn::Linear layer(8, 8);
  layer->weight.set_data(layer->weight.to(torch::kHalf));
  layer->bias.set_data(layer->bias.to(torch::kHalf));
  Tensor x = torch::zeros({2, 8}, torch::kHalf);
  attend(layer(x), x, x * layer->weight);
}
void bad_half_table(nn::Linear layer) {
  layer->to(torch::kBFloat16);
  Tensor q = layer(torch::zeros({2, 8}, torch::kBFloat16));
  Tensor k = q * torch::ones({8});  // expect: attention-implicit-promotion
  attend(q, k, q);
}
void ok_parameters_moved() {
  Scaled model;
  for (auto& each : model->parameters()) each.set_data(each.to(torch::kBFloat16));
  Tensor x = torch::zeros({2, 8}, torch::kBFloat16);
  attend(x * model->scale, x, x);
}

// Code that makes a module half is not run under autocast over float32 parameters, where layer_norm's result
// would be float32: neither as a whole nor parameter by parameter.
void ok_normalized_half(const Tensor& x) {
  nn::LayerNorm norm(nn::LayerNormOptions({8}));
  norm->to(torch::kHalf);
  const Tensor q = norm(x.to(torch::kHalf));
  attend(q, q, q);
}
void ok_normalized_handed_in(nn::LayerNorm norm, const Tensor& x) {
  norm->to(torch::kHalf);
  const Tensor q = norm(x.to(torch::kHalf));
  attend(q, q, q);
}
void ok_normalized_by_parameters(const Tensor& x) {
  nn::LayerNorm norm(nn::LayerNormOptions({8}));
  for (auto& each : norm->parameters()) each.set_data(each.to(torch::kHalf));
  const Tensor q = norm(x.to(torch::kHalf));
  attend(q, q, q);
}
// The code says so on one path only, after the call or of a tensor; or it asks for autocast itself.
void bad_half_perhaps(nn::Linear layer, const Tensor& x, bool half) {
  if (half) layer->to(torch::kHalf);
  const Tensor q = layer(x).softmax(-1);  // expect: autocast-fp32-operator
  attend(q, q, q);
}
void bad_half_later(nn::Linear layer, const Tensor& x) {
  const Tensor q = layer(x).softmax(-1);  // expect: autocast-fp32-operator
  attend(q, q, q);
  layer->to(torch::kHalf);
}
void bad_softmax_of_half(const Tensor& x) {
  const Tensor q = x.to(torch::kHalf).softmax(-1);  // expect: autocast-fp32-operator
  attend(q, q, q);
}
void bad_half_under_own_autocast(nn::Linear layer, const Tensor& x) {
  layer->to(torch::kHalf);
  at::autocast::set_enabled(true);
  const Tensor q = layer(x).softmax(-1);  // expect: autocast-fp32-operator
  at::autocast::set_enabled(false);
  attend(q, q, q);
}
