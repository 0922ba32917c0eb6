// Members with initialisers of their own: what an object of unseen origin holds, and what unseen code may
// have set in it since.
#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <memory>
#include <utility>

#include "attention.h"

using at::Tensor;

namespace defaults {

// Implicit constructors, and defaulted ones.
struct BadParameter : torch::nn::Module {
  Tensor scale = register_parameter("scale", torch::ones({8}));
  torch::nn::Linear project = register_module("project", torch::nn::Linear(8, 8));
  void forward(const Tensor& x) {
    const Tensor h = project(x);
    attend(h * scale, h, h);  // expect: attention-implicit-promotion
  }
};
struct OkParameter : torch::nn::Module {
  Tensor scale = register_parameter("scale", torch::ones({8}));
  torch::nn::Linear project = register_module("project", torch::nn::Linear(8, 8));
  void forward(const Tensor& x) {
    const Tensor h = project(x);
    attend((h * scale).to(h.dtype()), h, h);
  }
};
struct BadHeldImpl : torch::nn::Module {
  Tensor scale = register_parameter("scale", torch::ones({8}));
  torch::nn::Linear project{register_module("project", torch::nn::Linear(8, 8))};
  void forward(const Tensor& x) {
    const Tensor h = project(x);
    attend(h - scale, h, h);  // expect: attention-implicit-promotion
  }
};
TORCH_MODULE(BadHeld);

struct Table {
  Tensor table = torch::rand({8});
  Tensor apply(const Tensor& x) const { return x * table; }  // expect: attention-implicit-promotion
  Tensor apply_back(const Tensor& x) const { return (x * table).to(x.dtype()); }
};
struct Defaulted {
  Defaulted() = default;
  Tensor table = torch::rand({8});
  Tensor apply(const Tensor& x) const { return x + table; }  // expect: attention-implicit-promotion
};
struct Derived : Defaulted {};

void bad_made(const Tensor& x) {
  const auto table = std::make_shared<Table>();
  const Tensor h = x.to(at::kHalf);
  attend(table->apply(h), h, h);
}
void bad_defaulted(const Tensor& x) {
  const auto table = std::make_unique<Derived>();
  const Tensor h = x.to(at::kHalf);
  attend(table->apply(h), h, h);
}
void ok_made(const Tensor& x) {
  const auto table = std::make_shared<Table>();
  const Tensor h = x.to(at::kHalf);
  attend(table->apply_back(h), h, h);
}

// A member of another class of which no object is made either.
class BadHolder {
  Table table_;

 public:
  void forward(const Tensor& x) {
    const Tensor h = x.to(at::kHalf);
    attend(table_.apply(h), h, h);
  }
  void forward_back(const Tensor& x) {
    const Tensor h = x.to(at::kHalf);
    attend(table_.apply_back(h), h, h);
  }
};
struct BadShared {
  std::shared_ptr<Table> table = std::make_shared<Table>();
  void forward(const Tensor& x) {
    const Tensor h = x.to(at::kHalf);
    attend(table->apply(h), h, h);
  }
};
class BadPrivate {
  const Tensor table_{torch::rand({8})};

 public:
  void forward(const Tensor& x) const {
    const Tensor h = x.to(at::kHalf);
    attend(h / table_, h, h);  // expect: attention-implicit-promotion
  }
};
// What a caller hands in is what the caller put there.
void ok_handed(const Table& given, const Tensor& x) { attend(x * given.table, x, x); }

// A default that unseen code may have changed.
struct Options {
  at::ScalarType compute = at::kFloat;
  c10::optional<at::ScalarType> store = c10::nullopt;
  bool half = false;
  at::ScalarType chosen() const { return half ? at::kHalf : at::kFloat; }
};
struct BracedOptions {
  const at::ScalarType compute = at::kFloat;
};
void ok_option(const Tensor& x, const Options& options) {
  const Tensor h = x.to(options.compute);
  attend(h, h, h);
}
void ok_const_option(const Tensor& x, const BracedOptions& options) {
  const Tensor h = x.to(options.compute);
  attend(h, h, h);
}
void ok_chosen(const Tensor& x, const Options& options) {
  const Tensor h = x.to(options.chosen());
  attend(h, h, h);
}
void ok_optional(const Tensor& x, const Options& options) {
  const Tensor h = x.to(at::kHalf);
  const Tensor q = options.store ? (h * torch::rand({8})).to(*options.store) : h;
  attend(q, h, h);
}
void bad_own_option(const Tensor& x) {
  const Options options;
  const Tensor h = x.to(at::kHalf), q = h.to(options.compute);  // expect: attention-mixed-dtypes
  attend(q, h, h);
}
struct OkWithOptions : torch::nn::Module {
  Options options;
  explicit OkWithOptions(Options given) : options(std::move(given)) {}
  void forward(const Tensor& x) {
    const Tensor h = x.to(options.compute);
    attend(h, h, h);
  }
};
struct OkPublic {
  at::ScalarType compute;
  OkPublic() : compute(at::kFloat) {}
  void forward(const Tensor& x) {
    const Tensor h = x.to(compute);
    attend(h, h, h);
  }
};

// Code outside the class cannot change it; a method may.
class BadFixed {
  at::ScalarType compute_ = at::kFloat;

 public:
  void forward(const Tensor& x) {
    const Tensor h = x.to(at::kHalf), q = h.to(compute_);  // expect: attention-mixed-dtypes
    attend(q, h, h);
  }
};
class OkSetter {
  at::ScalarType compute_ = at::kFloat;

 public:
  void set(at::ScalarType compute) { compute_ = compute; }
  void forward(const Tensor& x) {
    const Tensor h = x.to(compute_);
    attend(h, h, h);
  }
};
class OkReference {
  at::ScalarType compute_ = at::kFloat;

 public:
  at::ScalarType& compute() { return compute_; }
  void forward(const Tensor& x) {
    const Tensor h = x.to(compute_);
    attend(h, h, h);
  }
};
class OkUnseen {
  at::ScalarType compute_ = at::kFloat;

 public:
  void configure(int argc, char** argv);  // stands in a file that is not here
  void forward(const Tensor& x) {
    const Tensor h = x.to(compute_);
    attend(h, h, h);
  }
};
class OkBase {
 protected:
  at::ScalarType compute_ = at::kFloat;

 public:
  void forward(const Tensor& x) {
    const Tensor h = x.to(compute_);
    attend(h, h, h);
  }
};
class OkOfBase : public OkBase {
 public:
  void make_half() { compute_ = at::kHalf; }
};
class OkArgument {
 public:
  TORCH_ARG(at::ScalarType, dtype) = torch::kFloat32;
};
void ok_argument(const Tensor& x, const OkArgument& options) {
  const Tensor h = x.to(options.dtype());
  attend(h, h, h);
}

// What may be absent at first may be there since.
struct OkCache {
  Tensor cache;
  std::shared_ptr<Table> table = nullptr;
  void forward(const Tensor& x) {
    const Tensor h = x.to(at::kHalf);
    if (cache.defined()) attend(h * cache, h, h);
    if (table) attend(table->apply_back(h), h, h);
  }
};

}  // namespace defaults
