// A holder's own constructor decides what it holds: the class that would widen is never made.
#include "attention.h"

struct NormImpl : torch::nn::Module {
  virtual at::Tensor forward(const at::Tensor& x) = 0;
};
struct Widening : NormImpl {
  at::Tensor forward(const at::Tensor& x) override {
    at::Tensor ones = torch::full({64}, 1.0);
    return x * ones;
  }
};
struct Faithful : NormImpl {
  at::Tensor forward(const at::Tensor& x) override { return x * 1.0; }
};
std::shared_ptr<NormImpl> create(bool wide) {
  if (wide) return std::make_shared<Widening>();
  return std::make_shared<Faithful>();
}
class Norm : public torch::nn::ModuleHolder<NormImpl> {
 public:
  explicit Norm(bool wide) : ModuleHolder(create(wide)) {}
  using torch::nn::ModuleHolder<NormImpl>::ModuleHolder;
};

struct AttentionImpl : torch::nn::Module {
  AttentionImpl() { norm = register_module("norm", Norm(false)); }
  at::Tensor forward(const at::Tensor& x) { return attend(norm->forward(x), x, x); }
  Norm norm{nullptr};
};
TORCH_MODULE(Attention);

int main() {
  Attention attention;
  attention->forward(torch::zeros({2, 16, 64}, torch::kBFloat16));
}
