// Kernels of operators, and where they are registered; registered.cpp calls them.
#include <ATen/autocast_mode.h>
#include <ATen/core/Tensor.h>
#include <torch/library.h>
#include <torch/types.h>

using at::Tensor;

namespace registered {

Tensor defined(const Tensor& x) { return x * torch::full({8}, 0.5); }  // expect: attention-implicit-promotion
Tensor cuda(const Tensor& x) { return x.to(at::kFloat).tanh(); }       // expect: attention-mixed-dtypes
Tensor wrapped(const Tensor& x) { return x + torch::rand({8}); }       // expect: attention-implicit-promotion
Tensor dispatched(const Tensor& x) { return x - torch::rand({8}); }    // expect: attention-implicit-promotion
Tensor any_key(const Tensor& x) { return x / torch::rand({8}); }       // expect: attention-implicit-promotion
Tensor kept(const Tensor& x) { return (x * torch::rand({8})).to(x.dtype()); }
Tensor widened(const Tensor& x) { return x * torch::rand({8}); }
Tensor cast(const Tensor& x) { return x.to(at::kFloat) * 2; }  // expect: attention-mixed-dtypes
Tensor cast_under_autocast(const Tensor& x) {
  const c10::impl::ExcludeDispatchKeyGuard guard(c10::DispatchKey::Autocast);
  return cast(x).to(at::kHalf);
}
Tensor (*const chosen_at_run_time)(const Tensor&) = &widened;

}  // namespace registered

TORCH_LIBRARY(own, m) {
  m.def("defined(Tensor x) -> Tensor", &registered::defined);
  m.def("cuda(Tensor x) -> Tensor");
  m.def("wrapped(Tensor x) -> Tensor");
  m.def("lambda(Tensor x) -> Tensor", [](const Tensor& x) {
    return torch::rand({8}) * x;  // expect: attention-implicit-promotion
  });
  m.def("dispatched(Tensor x) -> Tensor", torch::dispatch(c10::DispatchKey::CUDA, &registered::dispatched));
  m.def("any_key(Tensor x) -> Tensor");
  m.def("kept(Tensor x) -> Tensor", &registered::widened);
  m.def("cpu_only(Tensor x) -> Tensor");
  m.def("differentiated(Tensor x) -> Tensor");
  m.def("unknown_kernel(Tensor x) -> Tensor", &registered::widened);
  m.def("cast(Tensor x) -> Tensor");
}
TORCH_LIBRARY_IMPL(own, CUDA, m) {
  m.impl("cuda", &registered::cuda);
  m.impl("wrapped", TORCH_FN(registered::wrapped));
  m.impl("own::kept", registered::kept);
  m.impl("differentiated", registered::widened);
  m.impl("unknown_kernel", registered::chosen_at_run_time);
  m.impl("cast", &registered::cast);
}
TORCH_LIBRARY_IMPL(own, CPU, m) {
  m.impl("cpu_only", registered::widened);
  m.impl("wrapped", registered::kept);
}
TORCH_LIBRARY_IMPL(own, CompositeExplicitAutograd, m) { m.impl("any_key", registered::any_key); }
TORCH_LIBRARY_IMPL(own, AutogradCUDA, m) { m.impl("differentiated", registered::kept); }
TORCH_LIBRARY_IMPL(own, Autocast, m) { m.impl("cast", TORCH_FN(registered::cast_under_autocast)); }
