// Calls through a base class: known is what every class that derives from it gives, where no other file can
// derive from it.
#include "overrides.h"

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>
#include <torch/types.h>

#include <memory>
#include <utility>

#include "attention.h"

using at::Tensor;

struct OfHeader : OkBaseOfHeader {
  Tensor apply(const Tensor& x) override { return x.to(at::kFloat); }
};
void ok_of_header(OkBaseOfHeader& base, const Tensor& q, const Tensor& k) { attend(base.apply(q), k, k); }

namespace overrides {

struct Wide {
  virtual ~Wide() = default;
  virtual Tensor apply(const Tensor& x) = 0;
  virtual Tensor apply_if(const Tensor& x, bool widen) = 0;
  virtual bool is_wide() = 0;
};
struct Table : Wide {
  Tensor apply(const Tensor& x) override {
    return x * torch::arange(64).to(at::kFloat).cos();  // expect: attention-implicit-promotion
  }
  Tensor apply_if(const Tensor& x, bool widen) override {
    return widen ? x.to(at::kFloat) : x;  // expect: attention-mixed-dtypes
  }
  bool is_wide() override { return true; }
};
struct Cast : Wide {
  Tensor apply(const Tensor& x) override { return x.to(at::kFloat) * 2; }  // expect: attention-mixed-dtypes
  Tensor apply_if(const Tensor& x, bool widen) override {
    return widen ? x.to(at::kFloat) : x;  // expect: attention-mixed-dtypes
  }
  bool is_wide() override { return true; }
};

void bad_wide(Wide& base, const Tensor& q, const Tensor& k) { attend(base.apply(q), k, k); }
struct BadMember : torch::nn::Module {
  explicit BadMember(std::shared_ptr<Wide> base) : base_(std::move(base)) {}
  void forward(const Tensor& q, const Tensor& k) { attend(base_->apply(q), k, k); }
  std::shared_ptr<Wide> base_;
};
void bad_told(Wide& base, const Tensor& q, const Tensor& k) { attend(base.apply_if(q, true), k, k); }

void ok_told(Wide& base, const Tensor& q, const Tensor& k) { attend(base.apply_if(q, false), k, k); }
void ok_back(Wide& base, const Tensor& q, const Tensor& k) {
  attend(base.apply(q).to(k.scalar_type()), k, k);
}
// Which class it is may decide that as well.
void ok_asked(Wide& base, const Tensor& q, const Tensor& k) {
  Tensor x = base.apply(q);
  if (base.is_wide()) x = x.to(k.scalar_type());
  attend(x, k, k);
}

struct OkOneKeeps {
  virtual ~OkOneKeeps() = default;
  virtual Tensor apply(const Tensor& x) = 0;
};
struct Keeps : OkOneKeeps {
  Tensor apply(const Tensor& x) override { return x * 2; }
};
struct Widens : OkOneKeeps {
  Tensor apply(const Tensor& x) override { return x.to(at::kFloat); }
};
void ok_one_keeps(OkOneKeeps& base, const Tensor& q, const Tensor& k) { attend(base.apply(q), k, k); }

struct OkByMember {
  virtual ~OkByMember() = default;
  virtual Tensor apply(const Tensor& x) = 0;
};
struct Scales : OkByMember {
  explicit Scales(Tensor scale) : scale_(std::move(scale)) {}
  Tensor apply(const Tensor& x) override { return x * scale_; }
  Tensor scale_;
};
void ok_by_member(OkByMember& base, const Tensor& q, const Tensor& k) { attend(base.apply(q), k, k); }

struct OkGrandchild {
  virtual ~OkGrandchild() = default;
  virtual Tensor apply(const Tensor& x) = 0;
};
struct Child : OkGrandchild {
  Tensor apply(const Tensor& x) override { return x.to(at::kFloat); }
};
struct Grandchild : Child {
  Tensor apply(const Tensor& x) override { return Child::apply(x).to(x.scalar_type()); }
};
void ok_grandchild(OkGrandchild& base, const Tensor& q, const Tensor& k) { attend(base.apply(q), k, k); }

template <class T>
struct OkOfTemplate {
  virtual ~OkOfTemplate() = default;
  virtual Tensor apply(const Tensor& x) = 0;
};
template <class T>
struct KeepsOfTemplate : OkOfTemplate<T> {
  Tensor apply(const Tensor& x) override { return x; }
};
struct WidensOfTemplate : OkOfTemplate<int> {
  Tensor apply(const Tensor& x) override { return x.to(at::kFloat); }
};
void ok_template(OkOfTemplate<int>& base, const Tensor& q, const Tensor& k) {
  KeepsOfTemplate<int> keeps;
  attend(keeps.apply(q), k, k);
  attend(base.apply(q), k, k);
}

// What runs inside is not known, and neither is what it is handed.
struct OkRunner {
  virtual ~OkRunner() = default;
  virtual Tensor run(const Tensor& q, const Tensor& k) = 0;
};
struct Narrows : OkRunner {
  Tensor run(const Tensor& q, const Tensor& k) override {
    return attend(q.to(at::kHalf), k.to(at::kHalf), k.to(at::kHalf));
  }
};
struct Trusts : OkRunner {
  Tensor run(const Tensor& q, const Tensor& k) override { return attend(q, k, k); }
};
void ok_runner(OkRunner& base, const Tensor& q, const Tensor& k) { base.run(q.to(at::kFloat), k); }

}  // namespace overrides
