// Operators that are registered in registrations.cpp and here, called through the dispatcher.
#include <ATen/autocast_mode.h>
#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include "attention.h"

using at::Tensor;
using Unary = Tensor(const Tensor&);

namespace registered {

#define CALL(NAME, X) c10::Dispatcher::singleton().findSchemaOrThrow(NAME, "").typed<Unary>().call(X)

void bad_defined(const Tensor& x) {
  static auto op = c10::Dispatcher::singleton().findSchemaOrThrow("own::defined", "").typed<Unary>();
  const Tensor h = x.to(at::kHalf);
  attend(op.call(h), h, h);
}
void bad_cuda(const Tensor& x) {
  const Tensor h = x.to(at::kHalf);
  attend(CALL("own::cuda", h), h, h);
}
void bad_wrapped(const Tensor& x) {
  const Tensor h = x.to(at::kHalf);
  attend(CALL("own::wrapped", h), h, h);
}
void bad_lambda(const Tensor& x) {
  const Tensor h = x.to(at::kHalf);
  attend(CALL("own::lambda", h), h, h);
}
void bad_dispatched(const Tensor& x) {
  const Tensor h = x.to(at::kHalf);
  attend(CALL("own::dispatched", h), h, h);
}
void bad_any_key(const Tensor& x) {
  const Tensor h = x.to(at::kHalf);
  attend(CALL("own::any_key", h), h, h);
}

void ok_kept(const Tensor& x) {
  const Tensor h = x.to(at::kHalf);
  attend(CALL("own::kept", h), h, h);
}
// The CPU's kernel does not run on CUDA tensors; none is registered for them.
void ok_cpu_only(const Tensor& x) {
  const Tensor h = x.to(at::kHalf);
  attend(CALL("own::cpu_only", h), h, h);
}
void ok_unregistered(const Tensor& x) {
  const Tensor h = x.to(at::kHalf);
  attend(CALL("own::unregistered", h), h, h);
}
// What is written between the kernel and its caller is not read.
void ok_autograd(const Tensor& x) {
  const Tensor h = x.to(at::kHalf);
  attend(CALL("own::differentiated", h), h, h);
}
void ok_unknown_kernel(const Tensor& x) {
  const Tensor h = x.to(at::kHalf);
  attend(CALL("own::unknown_kernel", h), h, h);
}
void ok_under_autocast(const Tensor& x) {
  at::autocast::set_enabled(true);
  const Tensor h = x.to(at::kHalf);
  attend(CALL("own::cast", h), h, h);
}
void bad_without_autocast(const Tensor& x) {
  at::autocast::set_enabled(false);
  const Tensor h = x.to(at::kHalf);
  attend(CALL("own::cast", h), h, h);
}

}  // namespace registered
