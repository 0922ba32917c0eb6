// Objects: what a caller hands in, what a class inherits, tables that are made once and kept.
#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <optional>

#include "attention.h"

using at::Tensor;

// Fields of what a caller hands in.
struct Inputs {
  Tensor query, key, value;
  std::optional<Tensor> mask;
  int64_t heads = 0;
};
struct Batch {
  Inputs inputs;
  std::vector<Tensor> more;
};
void bad_field(const Inputs& in) {
  auto q = in.query * torch::ones({8});  // expect: attention-implicit-promotion
  attend(q, in.key, in.value);
}
void bad_field_of_field(const Batch& batch) {
  auto q = batch.inputs.query + torch::ones({8});  // expect: attention-implicit-promotion
  attend(q, batch.inputs.key, batch.more[0]);
}
void bad_field_of_pointee(const std::shared_ptr<Inputs>& in) {
  in->query = in->query * torch::ones({8});  // expect: attention-implicit-promotion
  attend(in->query, in->key, in->value);
}
void ok_fields(Inputs in) {
  in.query = (in.query * torch::ones({8})).to(in.key.dtype());
  attend(in.query, in.key, in.value);
  if (in.mask) attend(in.query * *in.mask, in.key, in.value);
}
Inputs made(const Tensor& x) {
  Inputs in;
  in.query = x * torch::ones({8});  // expect: attention-implicit-promotion
  in.key = in.value = x;
  return in;
}
void bad_returned(const Tensor& x) {
  const Inputs in = made(x);
  attend(in.query, in.key, in.value);
}
void bad_aggregate(const Tensor& x) {
  const Inputs in{x * torch::ones({8}), x, x};  // expect: attention-implicit-promotion
  attend(in.query, in.key, in.value);
}
void ok_aggregate(const Tensor& x) {
  const Inputs in{.query = x, .key = x, .value = x};
  attend(in.query, in.key, in.value);
}

// What an object runs: its class's own method, else that of the nearest base.
struct Scale {
  virtual ~Scale() = default;
  virtual Tensor run(const Tensor& x) { return x * torch::ones({8}); }
};
struct FaithfulScale : Scale {
  Tensor run(const Tensor& x) override { return x * 2; }
};
struct NamedScale : FaithfulScale {
  const char* name() const { return "named"; }
};
struct WideScale : FaithfulScale {
  Tensor run(const Tensor& x) override {
    return FaithfulScale::run(x) + torch::ones({8});  // expect: attention-implicit-promotion
  }
};
struct NamedWideScale : WideScale {
  const char* name() const { return "wide"; }
};
static Tensor through_base(Scale& scale, const Tensor& x) { return scale.run(x); }
void ok_between(const Tensor& x) {
  NamedScale scale;
  attend(through_base(scale, x), scale.run(x), x);
}
void bad_between(const Tensor& x) {
  std::unique_ptr<Scale> scale = std::make_unique<NamedWideScale>();
  attend(scale->run(x), x, x);
}

// Tables that are made once.
void bad_static_table(const Tensor& x) {
  static const Tensor table = torch::arange(8, torch::kFloat).cos();
  attend(x * table, x, x);  // expect: attention-implicit-promotion
}
void bad_static_variable(const Tensor& x) {
  static Tensor table = torch::arange(8, torch::kFloat).cos();
  attend(x * table, x, x);  // expect: attention-implicit-promotion
}
void bad_static_lambda(const Tensor& x) {
  static const Tensor table = [] { return torch::arange(8, torch::kFloat).cos(); }();
  attend(x * table, x, x);  // expect: attention-implicit-promotion
}
const Tensor& shared_table() {
  static const Tensor table = torch::ones({8});
  return table;
}
void bad_shared_table(const Tensor& x) {
  attend(x * shared_table(), x, x);  // expect: attention-implicit-promotion
}
void ok_static_table(const Tensor& x) {
  static const Tensor table = torch::arange(8, torch::kFloat).cos();
  attend(x * table.to(x.dtype()), (x * table).to(x), x);
}
static Tensor of_the_file;  // set by unseen code
void ok_of_the_file(const Tensor& x) { attend(x * of_the_file, x, x); }

struct CachedImpl : torch::nn::Module {
  Tensor forward(const Tensor& x) {
    update(x.size(0), x.device());
    return attend(x * cos_, x, x);  // expect: attention-implicit-promotion
  }
  void update(int64_t rows, at::Device device) {
    if (cos_.defined() && cos_.size(0) >= rows) return;
    cos_ = torch::arange(rows, torch::TensorOptions().dtype(torch::kFloat32).device(device)).cos();
  }
  Tensor cos_;
};
struct CachedInDtypeImpl : torch::nn::Module {
  Tensor forward(const Tensor& x) {
    if (!cos_.defined() || cos_.scalar_type() != x.scalar_type()) {
      cos_ = torch::arange(8, torch::kFloat32).cos().to(x.scalar_type());
    }
    return attend(x * cos_, x, x);
  }
  Tensor cos_;
};
struct CachedLaterImpl : torch::nn::Module {
  Tensor forward(const Tensor& x) {
    const Tensor table = cos_for(x);
    return attend(x * table, x, x);  // expect: attention-implicit-promotion
  }
  const Tensor& cos_for(const Tensor& x) {
    if (!cached_.has_value()) cached_ = torch::arange(x.size(-1), torch::kFloat).cos();
    return cached_.value();
  }
  c10::optional<Tensor> cached_;
};
// A buffer that the conversion of the module takes along, where the arithmetic is float32.
struct HalvedImpl : torch::nn::Module {
  HalvedImpl() { table = register_buffer("table", torch::arange(8, torch::kFloat)); }
  Tensor table;
};
TORCH_MODULE(Halved);
static Tensor halved(const Tensor& x) {
  Halved model;
  model->to(torch::kHalf);
  return x * model->table;
}
void ok_halved() {
  const Tensor x = torch::zeros({2, 8}, torch::kHalf);
  attend(halved(x), x, x);
}

// What a struct that a caller hands in holds is an input, behind pointers too.
struct HandedWeights {
  Tensor query, key;
};
struct HandedLayer {
  HandedWeights* weights;
  HandedWeights own;
};
void bad_behind_pointer(const HandedWeights* weights, const Tensor& x) {
  attend(weights->query * torch::ones({8}), x, x);  // expect: attention-implicit-promotion
}
void bad_behind_two(const HandedLayer& layer, const Tensor& x) {
  attend(layer.weights->query * torch::ones({8}), x, x);  // expect: attention-implicit-promotion
}
void bad_within(const HandedLayer* layer, const Tensor& x) {
  attend(layer->own.query * torch::ones({8}), x, x);  // expect: attention-implicit-promotion
}
void ok_behind_pointer(const HandedLayer* layer, const Tensor& x) {
  attend(layer->weights->query, layer->own.key * 2, x);
}
// A known miss: the elements of a list of structs.
void ok_in_list(const std::vector<HandedWeights>& layers, const Tensor& x) {
  attend(layers[1].query * torch::ones({8}), x, x);
}

// What a constructor is told is the dtype of a half model's parameters. Under autocast these are float32
// because no dtype was given, so that there it is not known.
struct ToldDtype {
  ToldDtype(at::ScalarType dtype, bool scores) : dtype_(dtype), scores_(scores) {}
  Tensor ok_cast_to_it(const Tensor& x) const {
    const Tensor q = x.to(dtype_);
    return attend(q, q, q);
  }
  Tensor ok_cast_back(const Tensor& x) const {
    Tensor q = x.to(dtype_);
    if (scores_) q = q.to(at::kFloat).softmax(-1);
    return attend(scores_ ? q.to(dtype_) : q, x.to(dtype_), x.to(dtype_));
  }
  Tensor ok_beside_an_input(const Tensor& x, const Tensor& k) const { return attend(x.to(dtype_), k, k); }
  Tensor ok_beside_half(const Tensor& x, const Tensor& k) const {
    return attend(x.to(dtype_), k.to(at::kHalf), k.to(at::kHalf));
  }
  Tensor bad_not_cast_back(const Tensor& x) const {
    const Tensor q = x.to(dtype_).to(at::kFloat).softmax(-1);  // expect: attention-mixed-dtypes
    return attend(q, x.to(dtype_), x.to(dtype_));
  }
  at::ScalarType dtype_;
  bool scores_;
};
struct ToldOptionsImpl : torch::nn::Module {
  explicit ToldOptionsImpl(const at::TensorOptions& options)
      : weight(register_parameter("weight", torch::ones({8}, options))), options_(options) {}
  Tensor ok_cast_to_it(const Tensor& x) { return attend(x.to(options_), x, x); }
  Tensor ok_weight(const Tensor& x) { return attend(x * weight.to(x.dtype()), x, x); }
  Tensor bad_weight(const Tensor& x) {
    return attend(x * weight, x, x);  // expect: attention-implicit-promotion
  }
  Tensor weight;
  at::TensorOptions options_;
};
