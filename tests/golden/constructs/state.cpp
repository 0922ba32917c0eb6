// State of the thread: autocast and the default dtype; custom operators.
#include <ATen/autocast_mode.h>
#include <torch/library.h>
#include <torch/nn/functional/normalization.h>

#include "attention.h"

using at::Tensor;
namespace F = torch::nn::functional;

struct AutocastScope {
  explicit AutocastScope(at::ScalarType dtype) : before_(at::autocast::is_enabled()) {
    at::autocast::set_autocast_gpu_dtype(dtype);
    at::autocast::set_enabled(true);
  }
  ~AutocastScope() {
    at::autocast::clear_cache();
    at::autocast::set_enabled(before_);
  }
  bool before_;
};

static void under_autocast(const Tensor& x) {
  Tensor k = F::normalize(x, F::NormalizeFuncOptions().dim(-1));  // expect: autocast-fp32-operator
  attend(x, k, x);
}
static void without_autocast(const Tensor& x) {
  Tensor k = F::normalize(x, F::NormalizeFuncOptions().dim(-1));
  attend(x, k, x);
}
static void in_its_dtype(const Tensor& x) {
  Tensor k = F::normalize(x, F::NormalizeFuncOptions().dim(-1)).to(x.dtype());
  attend(x, k, x);
}

static void default_dtype(const Tensor& x) {
  at::ScalarType before = c10::typeMetaToScalarType(torch::get_default_dtype());
  torch::set_default_dtype(at::scalarTypeToTypeMeta(at::kHalf));
  Tensor ones = torch::ones({8});
  attend(x * ones, x, x);
  torch::set_default_dtype(at::scalarTypeToTypeMeta(before));
  Tensor wide = x * torch::ones({8});  // expect: attention-implicit-promotion
  attend(wide, x, x);
}

// An operator of the project that is registered for Autocast casts what it is given.
static Tensor scale_rows(const Tensor& x, const Tensor& scale) { return x * scale.to(x.dtype()); }
static Tensor scale_rows_autocast(const Tensor& x, const Tensor& scale) {
  c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::DispatchKey::Autocast);
  return scale_rows(at::autocast::cached_cast(at::kHalf, x), at::autocast::cached_cast(at::kHalf, scale));
}
TORCH_LIBRARY(constructs, m) { m.def("scale_rows(Tensor x, Tensor scale) -> Tensor"); }
TORCH_LIBRARY_IMPL(constructs, CUDA, m) { m.impl("scale_rows", scale_rows); }
TORCH_LIBRARY_IMPL(constructs, Autocast, m) { m.impl("scale_rows", scale_rows_autocast); }
static void registered(const Tensor& x) {
  Tensor q = scale_rows_autocast(x, torch::ones({8}));
  attend(q, x, x);
}

int main() {
  const Tensor x = torch::zeros({2, 8}, at::kHalf);
  {
    AutocastScope scope(at::kHalf);
    under_autocast(x);
    in_its_dtype(x);
    {
      c10::impl::ExcludeDispatchKeyGuard off(c10::DispatchKey::AutocastCUDA);
      without_autocast(x);
    }
  }
  without_autocast(x);
  default_dtype(x);
  registered(x);
}
