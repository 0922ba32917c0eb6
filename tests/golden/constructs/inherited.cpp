// A method that a class inherits runs what the class overrides: it is looked at for each class that has it.
#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/types.h>

#include <memory>

#include "attention.h"

using at::Tensor;

namespace inherited {

class Projection : public torch::nn::Module {
 public:
  Projection() : weight_(torch::nn::Linear(64, 64)) { register_module("weight", weight_); }
  Tensor forward(const Tensor& x) {
    Tensor q, k;
    project(x, q, k);
    return attend(q, k, k);
  }
  Tensor rotate(const Tensor& x, const Tensor& k) { return attend(scaled(x), k, k); }

 protected:
  virtual void project(const Tensor& x, Tensor& q, Tensor& k) { q = k = weight_->forward(x); }
  virtual Tensor scaled(const Tensor& x) { return x * 0.5; }
  torch::nn::Linear weight_;
};
class BadScaledProjection : public Projection {
 public:
  BadScaledProjection() { scale_ = register_buffer("scale", torch::ones({64})); }

 protected:
  void project(const Tensor& x, Tensor& q, Tensor& k) override {
    Projection::project(x, q, k);
    q = q * scale_;  // expect: attention-implicit-promotion
  }
  Tensor scaled(const Tensor& x) override { return (x * scale_).to(x.scalar_type()); }
  Tensor scale_;
};
class OkCastProjection : public Projection {
 public:
  OkCastProjection() { scale_ = register_buffer("scale", torch::ones({64})); }

 protected:
  void project(const Tensor& x, Tensor& q, Tensor& k) override {
    Projection::project(x, q, k);
    q = (q * scale_).to(k.scalar_type());
  }
  Tensor scale_;
};
// Its own method casts what its own part widens.
class OkOwnProjection : public Projection {
 public:
  OkOwnProjection() { scale_ = register_buffer("scale", torch::ones({64})); }
  Tensor forward(const Tensor& x) {
    Tensor q, k;
    project(x, q, k);
    return attend(q.to(k.scalar_type()), k, k);
  }

 protected:
  void project(const Tensor& x, Tensor& q, Tensor& k) override {
    Projection::project(x, q, k);
    q = q * scale_;
  }
  Tensor scale_;
};
// What its constructor says of it holds for what it inherits.
class Switched : public torch::nn::Module {
 public:
  explicit Switched(bool narrows) : narrows_(narrows) {}
  Tensor forward(const Tensor& x) {
    Tensor q = scaled(x);
    if (narrows_) q = q.to(x.scalar_type());
    return attend(q, x, x);
  }

 protected:
  virtual Tensor scaled(const Tensor& x) { return x * 2; }
  bool narrows_;
};
class OkNarrows : public Switched {
 public:
  OkNarrows() : Switched(true) {}

 protected:
  Tensor scaled(const Tensor& x) override { return x * torch::ones({64}); }
};
class BadWidens : public Switched {
 public:
  BadWidens() : Switched(false) {}

 protected:
  Tensor scaled(const Tensor& x) override {
    return x * torch::ones({64});  // expect: attention-implicit-promotion
  }
};

}  // namespace inherited
