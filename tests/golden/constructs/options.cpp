// Attention as torch::nn itself writes it, where torch::nn is the project: its option structs, which may
// state a dtype, are read; and a switch over a tensor's dtype keeps the dtype of that tensor.
#include <ATen/Dispatch.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/softmax.h>

#include <limits>
#include <optional>

#include "attention.h"

namespace torch::nn::functional {
struct OwnSoftmaxFuncOptions {
  OwnSoftmaxFuncOptions(int64_t dim) : dim_(dim) {}
  OwnSoftmaxFuncOptions& dtype(torch::Dtype stated) {
    dtype_ = stated;
    return *this;
  }
  const std::optional<torch::Dtype>& dtype() const { return dtype_; }
  int64_t dim() const { return dim_; }

 private:
  int64_t dim_;
  std::optional<torch::Dtype> dtype_ = std::nullopt;
};
inline at::Tensor own_softmax(const at::Tensor& x, const OwnSoftmaxFuncOptions& options) {
  if (options.dtype() == std::nullopt) return x.softmax(options.dim());
  return x.softmax(options.dim(), *options.dtype());
}
}  // namespace torch::nn::functional

namespace F = torch::nn::functional;
using at::Tensor;

static Tensor masked(Tensor scores, const Tensor& mask) {
  if (!mask.defined()) return scores;
  return AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, scores.scalar_type(), "masked", [&]() {
    return scores.masked_fill(mask, -std::numeric_limits<float>::infinity());
  });
}

void bad_values(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask = {}) {
  const Tensor scores = F::own_softmax(masked(at::bmm(q, k), mask), -1);
  at::bmm(scores, v * torch::ones({8}));  // expect: attention-mixed-dtypes
}
void ok_values(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask = {}) {
  const Tensor scores = F::own_softmax(masked(at::bmm(q, k), mask), -1);
  at::bmm(scores, v * torch::ones({8}).to(v.scalar_type()));
}
void ok_stated(const Tensor& q, const Tensor& k, const Tensor& v) {
  const Tensor scores = F::own_softmax(at::bmm(q, k), F::OwnSoftmaxFuncOptions(-1).dtype(at::kFloat));
  at::bmm(scores, v.to(at::kFloat));
}
