// Where a tensor is, asked in different ways: of the tensor, of its device, of that device's type.
#include <ATen/autocast_mode.h>
#include <torch/version.h>

#include "attention.h"

using at::Tensor;

static Tensor wide(const Tensor& x) { return x.to(at::kFloat) * 2; }
static Tensor narrow(const Tensor& x) { return x.to(at::kHalf); }

void ok_devices(const Tensor& x) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (!x.is_cuda()) q = wide(q);
  if (!x.device().is_cuda()) q = narrow(q);
  attend(q, h, h);
}
void ok_device_checked(const Tensor& x) {
  const Tensor h = narrow(x);
  TORCH_CHECK(x.device().is_cuda());
  Tensor q = h;
  if (x.device().type() == at::kCPU) q = wide(q);
  if (x.is_cpu()) q = wide(q);
  attend(q, h, h);
}
void ok_device_type_checked(const Tensor& x) {
  const Tensor h = narrow(x);
  const auto device = x.device();
  TORCH_CHECK(device.type() == at::kCUDA);
  Tensor q = h;
  if (!device.is_cuda()) q = wide(q);
  if (!x.is_cuda()) q = wide(q);
  attend(q, h, h);
}
void ok_device_of_options(const Tensor& x) {
  const Tensor h = narrow(x);
  TORCH_CHECK(x.options().device().is_cuda());
  TORCH_CHECK(h.get_device() >= 0);
  Tensor q = h, k = h;
  if (x.is_cpu()) q = wide(q);
  if (h.is_cpu()) k = wide(k);
  attend(q, k, h);
}
void bad_on_one_device(const Tensor& x) {
  const Tensor h = narrow(x);
  Tensor q = h;
  if (x.device().type() == at::kCPU) q = h.to(at::kFloat);  // expect: attention-mixed-dtypes
  attend(q, h, h);
}

// Autocast of another device has no say; of which device it is, may not be known.
void bad_autocast_elsewhere(const Tensor& x) {
  const Tensor h = narrow(x);
  at::autocast::set_xpu_enabled(true);
  const Tensor w = h.to(at::kFloat);  // expect: attention-mixed-dtypes
  attend(at::matmul(w, w), h, h);
}
void ok_autocast_of_any_device(const Tensor& x, c10::DeviceType device) {
  const Tensor h = narrow(x);
#if TORCH_VERSION_MAJOR > 1
  at::autocast::set_autocast_enabled(device, true);
  const Tensor w = h.to(at::kFloat);
  attend(at::matmul(w, w), h, h);
#endif
}
