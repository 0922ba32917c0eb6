// Known misses on libtorch's own headers: defects that dtype-lint does not see. What is found one day moves
// to a fixture that expects it.
#include <torch/nn/module.h>
#include <torch/types.h>

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "attention.h"

using at::Tensor;

namespace misses {

// Some of the classes widen, and a caller passes one of them: which one and which dtypes go together.
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

// What a variant holds.
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

// Buffers that a loop registers and keeps in a list as well.
class RegisteredInALoop : public torch::nn::Module {
 public:
  explicit RegisteredInALoop(int count) {
    for (int i = 0; i < count; ++i)
      scales_.push_back(register_buffer("scale" + std::to_string(i), torch::ones({64})));
  }
  Tensor forward(const Tensor& x) { return attend(x * scales_[0], x, x); }

 private:
  std::vector<Tensor> scales_;
};

}  // namespace misses
