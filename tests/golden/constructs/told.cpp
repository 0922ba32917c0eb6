// Constants that the code passes to constructors and private methods: other values count only where unseen
// code can pass them.
#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <memory>
#include <string>

#include "attention.h"

using at::Tensor;

// A part that is made with a flag.
struct FlagPart : torch::nn::Module {
  bool widens;
  explicit FlagPart(bool u) : widens(u) {}
  Tensor forward(const Tensor& x) { return widens ? x.to(at::kFloat) * 2 : x * 2; }
};
struct ok_part : torch::nn::Module {
  std::shared_ptr<FlagPart> part = std::make_shared<FlagPart>(false);
  Tensor forward(const Tensor& q, const Tensor& k) { return attend(part->forward(q), k, k); }
};
struct ok_registered : torch::nn::Module {
  std::shared_ptr<FlagPart> part;
  ok_registered() { part = register_module("part", std::make_shared<FlagPart>(false)); }
  Tensor forward(const Tensor& q, const Tensor& k) { return attend(part->forward(q), k, k); }
};
struct ok_unique {
  std::unique_ptr<FlagPart> part = std::make_unique<FlagPart>(false);
  Tensor forward(const Tensor& q, const Tensor& k) { return attend(part->forward(q), k, k); }
};
struct UpPart : torch::nn::Module {
  bool widens;
  explicit UpPart(bool u) : widens(u) {}
  Tensor forward(const Tensor& x) {
    return widens ? x.to(at::kFloat) * 2 : x * 2;  // expect: attention-mixed-dtypes
  }
};
struct bad_part : torch::nn::Module {
  std::shared_ptr<UpPart> part = std::make_shared<UpPart>(true);
  Tensor forward(const Tensor& q, const Tensor& k) { return attend(part->forward(q), k, k); }
};
struct OpenPart : torch::nn::Module {
  bool widens;
  explicit OpenPart(bool u) : widens(u) {}
  Tensor forward(const Tensor& x) {
    return widens ? x.to(at::kFloat) * 2 : x * 2;  // expect: attention-mixed-dtypes
  }
};
struct bad_handed_on : torch::nn::Module {
  std::shared_ptr<OpenPart> part;
  explicit bad_handed_on(bool u) : part(std::make_shared<OpenPart>(u)) {}
  Tensor forward(const Tensor& q, const Tensor& k) { return attend(part->forward(q), k, k); }
};
// One that others are seen to write.
struct WrittenPart {
  bool raised;
  explicit WrittenPart(bool u) : raised(u) {}
  Tensor forward(const Tensor& x) {
    return raised ? x.to(at::kFloat) * 2 : x * 2;  // expect: attention-mixed-dtypes
  }
};
struct bad_written {
  WrittenPart part{false};
  void raise() { part.raised = true; }
  Tensor forward(const Tensor& q, const Tensor& k) { return attend(part.forward(q), k, k); }
};
struct HolderPartImpl : torch::nn::Module {
  bool widens;
  explicit HolderPartImpl(bool u = false) : widens(u) {}
  Tensor forward(const Tensor& x) { return widens ? x.to(at::kFloat) * 2 : x * 2; }
};
TORCH_MODULE(HolderPart);
struct ok_holder : torch::nn::Module {
  HolderPart part{nullptr};
  ok_holder() { part = register_module("part", HolderPart(false)); }
  Tensor forward(const Tensor& q, const Tensor& k) { return attend(part->forward(q), k, k); }
};
// In braces, where there is no constructor.
struct Braced {
  bool widens;
  Tensor forward(const Tensor& x) { return widens ? x.to(at::kFloat) * 2 : x * 2; }
};
struct ok_braced {
  Braced part{false};
  Tensor forward(const Tensor& q, const Tensor& k) { return attend(part.forward(q), k, k); }
};
// A default that unseen code may change.
struct Option {
  bool widens = false;
  Tensor forward(const Tensor& x) {
    return widens ? x.to(at::kFloat) * 2 : x * 2;  // expect: attention-mixed-dtypes
  }
};
struct bad_option {
  Option part;
  Tensor forward(const Tensor& q, const Tensor& k) { return attend(part.forward(q), k, k); }
};

// A private method, whose callers are all seen.
class ok_guarded {
 public:
  explicit ok_guarded(bool u) : up_(u) {}
  Tensor forward(const Tensor& q, const Tensor& k) {
    if (up_) return q;
    return go(q, k);
  }

 private:
  Tensor go(Tensor q, const Tensor& k) {
    if (up_) q = q.to(at::kFloat) * 2;
    return attend(q, k, k);
  }
  bool up_;
};
class ok_private_argument {
 public:
  Tensor forward(const Tensor& q, const Tensor& k) { return go(q, k, false); }

 private:
  Tensor go(const Tensor& q, const Tensor& k, bool widens) {
    const Tensor x = widens ? q.to(at::kFloat) * 2 : q;
    return attend(x, k, k);
  }
};
class bad_private_argument {
 public:
  Tensor forward(const Tensor& q, const Tensor& k) { return go(q, k, true); }

 private:
  Tensor go(const Tensor& q, const Tensor& k, bool widens) {
    const Tensor x = widens ? q.to(at::kFloat) * 2 : q;  // expect: attention-mixed-dtypes
    return attend(x, k, k);
  }
};
// It is passed unknown values: these are taken as the setting's inputs, under its callers' path conditions.
Tensor of_another_library(const Tensor& x);
class bad_unknown_inputs {
 public:
  Tensor forward(const Tensor& x) { return go(of_another_library(x), of_another_library(x)); }

 private:
  Tensor go(const Tensor& q, const Tensor& k) {
    const Tensor x = q.to(at::kFloat) * 2;  // expect: attention-mixed-dtypes
    return attend(x, k, k);
  }
};
// A function of this file likewise, whatever it may write.
static void attend_into(Tensor& out, Tensor& q, Tensor& k) {
  const Tensor x = q.to(at::kFloat) * 2;  // expect: attention-mixed-dtypes
  out.copy_(attend(x, k, k));
}
Tensor bad_own_function(const Tensor& x) {
  Tensor q = of_another_library(x), k = of_another_library(x), out = at::empty_like(x);
  attend_into(out, q, k);
  return out;
}
class ok_unknown_inputs {
 public:
  explicit ok_unknown_inputs(bool u) : up_(u) {}
  Tensor forward(const Tensor& x) {
    if (up_) return x;
    return go(of_another_library(x), of_another_library(x), false);
  }

 private:
  Tensor go(Tensor q, const Tensor& k, bool widens) {
    if (up_ || widens) q = q.to(at::kFloat) * 2;
    return attend(q, k, k);
  }
  bool up_;
};
class ok_some_are_known {
 public:
  Tensor forward(const Tensor& x) { return go(of_another_library(x), x.to(at::kFloat)); }

 private:
  Tensor go(const Tensor& q, const Tensor& k) { return at::matmul(at::softmax(q, -1), k); }
};
class ok_what_it_gives {
 public:
  Tensor forward(const Tensor& x, const Tensor& k) { return attend(go(of_another_library(x)), k, k); }

 private:
  Tensor go(const Tensor& q) { return q * at::ones({8}, at::kFloat); }
};
class bad_what_it_casts {
 public:
  Tensor forward(const Tensor& x, const Tensor& k) { return attend(go(of_another_library(x)), k, k); }

 private:
  Tensor go(const Tensor& q) { return q.to(at::kFloat); }  // expect: attention-mixed-dtypes
};
class bad_with_a_friend {
 public:
  Tensor forward(const Tensor& q, const Tensor& k) { return go(q, k, false); }

 private:
  friend Tensor test_of_go(bad_with_a_friend& which, const Tensor& q);
  Tensor go(const Tensor& q, const Tensor& k, bool widens) {
    const Tensor x = widens ? q.to(at::kFloat) * 2 : q;  // expect: attention-mixed-dtypes
    return attend(x, k, k);
  }
};
class bad_never_called {
 public:
  Tensor forward(const Tensor& q, const Tensor& k);

 private:
  Tensor go(const Tensor& q, const Tensor& k, bool widens) {
    const Tensor x = widens ? q.to(at::kFloat) * 2 : q;  // expect: attention-mixed-dtypes
    return attend(x, k, k);
  }
};

// A string without a value is empty, which is a default like others.
struct Texts {
  std::string mode;
};
Tensor bad_text(const Tensor& q, const Tensor& k, const Texts& texts) {
  const Tensor x = texts.mode == "wide" ? q.to(at::kFloat) * 2 : q;  // expect: attention-mixed-dtypes
  return attend(x, k, k);
}
Tensor ok_text_and_its_length(Tensor q, const Tensor& k, const Texts& texts) {
  const Tensor h = k.to(at::kHalf);
  if (texts.mode.size() > 0) q = q.to(at::kFloat) * 2;
  if (!texts.mode.empty()) q = q.to(at::kHalf);
  return attend(q, h, h);
}
// So is what one of two constructors leaves.
struct TwoWays {
  bool raises = false;
  TwoWays() = default;
  explicit TwoWays(bool r) : raises(r) {}
  Tensor forward(const Tensor& x) const {
    return raises ? x.to(at::kFloat) * 2 : x * 2;  // expect: attention-mixed-dtypes
  }
};
struct bad_two_ways {
  TwoWays part;
  Tensor forward(const Tensor& q, const Tensor& k) { return attend(part.forward(q), k, k); }
};
