// Tensors that a method sets between constructor and call: what all seen setters agree on is known, where
// unseen code cannot set them.
#include "setters.h"

#include <torch/nn/module.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "attention.h"

using at::Tensor;

namespace {
Tensor wide(const Tensor& s) { return s.to(at::kFloat).view({1, 1, 1, 64}); }
}  // namespace

void BadOfHeader::set(const Tensor& s) {
  scale_ = s.to(at::kFloat).view({1, 1, 1, 64});  // expect: attention-mixed-dtypes
}
void BadOfHeader::forward(const Tensor& q, const Tensor& k) { attend(q * scale_, k, k); }
void OkUnseenSetter::set(const Tensor& s) { scale_ = wide(s); }
void OkUnseenSetter::forward(const Tensor& q, const Tensor& k) { attend(q * scale_, k, k); }
void OkOpenToAll::set(const Tensor& s) { scale = wide(s); }
void OkOpenToAll::forward(const Tensor& q, const Tensor& k) { attend(q * scale, k, k); }
void OkWithFriend::set(const Tensor& s) { scale_ = wide(s); }
void OkWithFriend::forward(const Tensor& q, const Tensor& k) { attend(q * scale_, k, k); }
void OkForDerived::set(const Tensor& s) { scale_ = wide(s); }
void OkForDerived::forward(const Tensor& q, const Tensor& k) { attend(q * scale_, k, k); }

namespace setters {

// Local to this file, so that other files cannot set even public members.
struct BadSetter {
  Tensor a;
  void set(const Tensor& s) {
    a = s.to(at::kFloat).view({1, 1, 1, 64});  // expect: attention-mixed-dtypes
  }
  void reset() { a = Tensor(); }
  void forward(const Tensor& q, const Tensor& k) { attend(q * a, k, k); }
};
struct BadWhereItIs {
  Tensor b;
  void set(const Tensor& s) {
    b = s.to(at::kFloat).view({1, 1, 1, 64});  // expect: attention-mixed-dtypes
  }
  void forward(Tensor q, const Tensor& k) {
    if (b.defined()) q = q * b;
    attend(q, k, k);
  }
};
struct BadNorm : torch::nn::Module {
  Tensor c;
  void load_weights(const std::map<std::string, Tensor>& all) {
    c = all.at("weight").to(at::kFloat).view({64});
  }
  Tensor forward(const Tensor& x) { return x * c; }  // expect: attention-implicit-promotion
};
struct BadBlock : torch::nn::Module {
  std::shared_ptr<BadNorm> norm = register_module("norm", std::make_shared<BadNorm>());
  void forward(const Tensor& q, const Tensor& k) { attend(norm->forward(q), k, k); }
};

// One cause is one finding, where the half value meets it: not another one at the cast, as seen from forward
// alone.
struct BadScaled {
  Tensor given_scale;
  void set(const Tensor& s) { given_scale = s.to(at::kFloat).view({1, 1, 1, 64}); }
  void forward(const Tensor& q, const Tensor& k) {
    const Tensor half = k.to(at::kHalf);
    attend(q.to(at::kHalf) * given_scale, half, half);  // expect: attention-implicit-promotion
  }
};
struct BadScaler {
  std::unique_ptr<BadScaled> part = std::make_unique<BadScaled>();
  BadScaler() { part->set(torch::ones({64})); }
  void forward(const Tensor& q, const Tensor& k) { part->forward(q, k); }
};
// A value that was wide before it met the table is a cause of its own.
inline void bad_shared(const Tensor& q, const Tensor& table, const Tensor& k) {
  attend(q * table.view({1, 1, 1, 64}), k, k);  // expect: attention-implicit-promotion
}
inline void bad_table(const Tensor& k) { bad_shared(k.to(at::kHalf), torch::ones({64}), k.to(at::kHalf)); }
inline void bad_query(const Tensor& k) {
  const Tensor half = k.to(at::kHalf);
  bad_shared(half.to(at::kFloat), torch::ones({64}), half);  // expect: attention-mixed-dtypes
}

struct OkCastBack {
  Tensor d;
  void set(const Tensor& s) { d = wide(s); }
  void forward(const Tensor& q, const Tensor& k) { attend((q * d).to(q.scalar_type()), k, k); }
};
struct OkNarrowSetter {
  Tensor e;
  void set(const Tensor& s) { e = wide(s).to(s.scalar_type()); }
  void forward(const Tensor& q, const Tensor& k) { attend(q * e, k, k); }
};
struct OkLaterHalf {
  Tensor f;
  void set(const Tensor& s) { f = wide(s); }
  void half() { f = f.to(at::kHalf); }
  void forward(const Tensor& q, const Tensor& k) { attend(q * f, k, k); }
};
struct OkTwoSetters {
  Tensor g;
  void set(const Tensor& s) { g = wide(s); }
  void take(const Tensor& s) { g = s.view({1, 1, 1, 64}); }
  void forward(const Tensor& q, const Tensor& k) { attend(q * g, k, k); }
};
struct OkChoosingSetter {
  Tensor h;
  void set(const Tensor& s, bool keep) { h = keep ? s.view({1, 1, 1, 64}) : wide(s); }
  void forward(const Tensor& q, const Tensor& k) { attend(q * h, k, k); }
};
struct OkBraces {
  Tensor i;
  void set(const Tensor& s) { i = wide(s); }
  void forward(const Tensor& q, const Tensor& k) { attend(q * i, k, k); }
};
void ok_braces(const Tensor& q, const Tensor& k, const Tensor& s) {
  OkBraces made{s.to(q.scalar_type())};
  made.forward(q, k);
}
struct OkOutside {
  Tensor j;
  void set(const Tensor& s) { j = wide(s); }
  void forward(const Tensor& q, const Tensor& k) { attend(q * j, k, k); }
};
void ok_outside(OkOutside& made) { made.j = made.j.to(at::kHalf); }
struct OkInPlace {
  Tensor l;
  void set(const Tensor& s) { l = wide(s); }
  void finish() { l.set_data(l.to(at::kHalf)); }
  void forward(const Tensor& q, const Tensor& k) { attend(q * l, k, k); }
};
struct OkByAddress {
  Tensor m;
  void set(const Tensor& s) { m = wide(s); }
  Tensor& get() { return m; }
  void forward(const Tensor& q, const Tensor& k) { attend(q * m, k, k); }
};
struct OkByLambda {
  Tensor n;
  void set(const Tensor& s) { n = wide(s); }
  void half() {
    const auto cast = [this] { n = n.to(at::kHalf); };
    cast();
  }
  void forward(const Tensor& q, const Tensor& k) { attend(q * n, k, k); }
};
struct OkOfBase {
  Tensor o;
  void set(const Tensor& s) { o = wide(s); }
  void forward(const Tensor& q, const Tensor& k) { attend(q * o, k, k); }
};
struct OkDerived : OkOfBase {
  void set_half(const Tensor& s) { o = s.to(at::kHalf).view({1, 1, 1, 64}); }
};
struct OkConstructedBase {
  Tensor v;
  void set(const Tensor& s) { v = wide(s); }
  void forward(const Tensor& q, const Tensor& k) { attend(q * v, k, k); }
};
struct OkConstructed : OkConstructedBase {
  explicit OkConstructed(const Tensor& s) { v = s.to(at::kHalf).view({1, 1, 1, 64}); }
};
struct OkByConstructor {
  Tensor p;
  OkByConstructor() = default;
  explicit OkByConstructor(Tensor s) : p(std::move(s)) {}
  void set(const Tensor& s) { p = wide(s); }
  void forward(const Tensor& q, const Tensor& k) { attend(q * p, k, k); }
};
// Module::to converts it with the others.
struct OkRegistered : torch::nn::Module {
  Tensor r;
  void set(const Tensor& s) { r = register_buffer("r", wide(s)); }
  void forward(const Tensor& q, const Tensor& k) { attend(q * r, k, k); }
};
struct OkRegisteredLater : torch::nn::Module {
  Tensor w;
  void set(const Tensor& s) { w = wide(s); }
  void finish() { register_buffer("w", w); }
  void forward(const Tensor& q, const Tensor& k) { attend(q * w, k, k); }
};
// What the setter sets along with it says whether it did.
struct OkFlag {
  Tensor t;
  bool is_set = false;
  void set(const Tensor& s) {
    t = wide(s);
    is_set = true;
  }
  void forward(Tensor q, const Tensor& k) {
    if (t.defined()) q = q * t;
    if (is_set) q = q.to(k.scalar_type());
    attend(q, k, k);
  }
};
struct OkAskedTwice {
  Tensor u;
  void set(const Tensor& s) { u = wide(s); }
  void forward(Tensor q, const Tensor& k) {
    if (u.defined()) q = q * u;
    if (u.defined()) q = q.to(k.scalar_type());
    attend(q, k, k);
  }
};

}  // namespace setters
