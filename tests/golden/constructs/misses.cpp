// Known misses on libtorch's own headers: defects that dtype-lint does not see, or of which it only says that
// they are possible. What is found one day moves to a fixture that expects it. analyzer/flow/known.md is made
// of this file.
#include <c10/core/ScalarType.h>
#include <torch/types.h>

#include <functional>
#include <future>
#include <memory>
#include <tuple>
#include <variant>

#include "attention.h"

using at::Tensor;

namespace misses {

// Missed: a virtual call of an object that a caller hands in, which only some of the classes widen.
struct Scaling {
  virtual ~Scaling() = default;
  virtual Tensor apply(const Tensor& x) = 0;
};
struct ScalingByTable : Scaling {
  Tensor apply(const Tensor& x) override { return x * torch::ones({64}); }
};
struct ScalingByNumber : Scaling {
  Tensor apply(const Tensor& x) override { return x * 0.5; }
};
void by_some_class(Scaling& scaling, const Tensor& q, const Tensor& k) { attend(scaling.apply(q), k, k); }

// Missed: what std::visit runs.
Tensor of_a_variant(const Tensor& x) {
  std::variant<double, Tensor> held = x.to(at::kFloat);
  const Tensor q = std::visit(
      [](const auto& one) -> Tensor {
        if constexpr (std::is_same_v<std::decay_t<decltype(one)>, Tensor>) return one;
        return torch::ones({64});
      },
      held);
  return attend(q, x, x);
}

static Tensor wide(const Tensor& x) { return x.to(at::kFloat) * 2; }
static Tensor narrow(const Tensor& x) { return x.to(at::kHalf); }

// Missed: what std::apply runs.
Tensor of_a_tuple(const Tensor& x) {
  const Tensor h = narrow(x);
  const Tensor q = std::apply([](const Tensor& a, const Tensor& b) { return wide(a) + b; },
                              std::tuple<Tensor, Tensor>(h, h));
  return attend(q, h, h);
}

// Missed: what std::invoke runs.
Tensor invoked(const Tensor& x) {
  const Tensor h = narrow(x);
  return attend(std::invoke(wide, h), h, h);
}

// Missed: what std::bind makes.
Tensor bound(const Tensor& x) {
  const Tensor h = narrow(x);
  const auto widen = std::bind(wide, std::placeholders::_1);
  return attend(widen(h), h, h);
}

// Missed: what std::async gives back.
Tensor later(const Tensor& x) {
  const Tensor h = narrow(x);
  auto running = std::async(std::launch::async, [&] { return wide(h); });
  return attend(running.get(), h, h);
}

// Missed: a tensor whose dtype c10::isFloatingType was asked.
Tensor asked(const Tensor& x) {
  const Tensor q = x * torch::ones({64});
  if (!c10::isFloatingType(q.scalar_type())) return x;
  return attend(q, x, x);
}

// Missed: a dtype by at::promote_types.
Tensor promoted(const Tensor& x) {
  const Tensor q = x.to(at::promote_types(x.scalar_type(), at::kFloat));
  return attend(q, x, x);
}

// Missed: attention by hand without a softmax of its scores, or a division by their own sum.
Tensor without_softmax(const Tensor& x, const Tensor& k, const Tensor& v) {
  const Tensor scores = torch::matmul(x * torch::ones({64}), k.transpose(-2, -1));
  return torch::matmul(torch::relu(scores), v);
}

// Missed: one choice for all operands, of which the call takes only the one, is taken for what the code
// means.
Tensor one_choice(const Tensor& q, const Tensor& k, const Tensor& v, bool half) {
  const auto dtype = half ? at::kHalf : at::kFloat;
  return attend(q.to(dtype), k.to(dtype), v.to(dtype));
}

// Missed: of two unrelated methods that decide together it is only said to be possible.
struct Config {
  bool exact() const;
  bool training() const;
};
Tensor decided_twice(const Config& config, const Tensor& x) {
  Tensor q = x;
  if (config.exact()) q = q * torch::ones({64});
  if (config.training()) q = narrow(q);
  return attend(q, x, x);
}

// Missed: of two ranges of one number that leave something between them it is only said to be possible.
Tensor between_ranges(const Tensor& x, int n) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (n > 4) q = q.to(at::kFloat);
  if (n > 8) q = narrow(q);
  return attend(q, h, h);
}

// Missed: of `a || b` against `a && b` it is only said to be possible.
Tensor any_or_both(const Tensor& x, bool a, bool b) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (a || b) q = q.to(at::kFloat);
  if (a && b) q = narrow(q);
  return attend(q, h, h);
}

}  // namespace misses
