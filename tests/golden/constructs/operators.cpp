// How an operator is written: functions, methods, operators, options, numbers, in place and into `out`.
#include <torch/nn/functional/activation.h>

#include "attention.h"

using at::Tensor;

// Spellings.
void bad_at(const Tensor& x) {
  const Tensor q = at::mul(x, at::ones({8}));  // expect: attention-implicit-promotion
  attend(q, x, x);
}
void bad_torch(const Tensor& x) {
  auto q = torch::add(x, torch::ones({8}), 2);  // expect: attention-implicit-promotion
  attend(q, x, x);
}
void bad_method(const Tensor& x) {
  auto q = x.contiguous().mul(torch::ones({8})).view({2, 4}).t();  // expect: attention-implicit-promotion
  attend(q, x, x);
}
void bad_operator(const Tensor& x) {
  auto q = (x - torch::ones({8})) / 2;  // expect: attention-implicit-promotion
  attend(q, x, x);
}
void bad_where(const Tensor& x, const Tensor& mask) {
  auto q = torch::where(mask, x, torch::zeros({8}));  // expect: attention-implicit-promotion
  attend(q, x, x);
}
void bad_addcmul(const Tensor& x) {
  auto q = x.addcmul(x, torch::ones({8}), 0.5);  // expect: attention-implicit-promotion
  attend(q, x, x);
}
void bad_symbolic_sizes(const Tensor& x) {
  auto q = x * torch::ones({8});  // expect: attention-implicit-promotion
  attend(q.view_symint(x.sym_sizes()), x.expand_symint(x.sym_sizes()), x);
}
// Parameters that libtorch's headers name otherwise than the operator table: conj's tensor, linalg_inv's A.
void bad_other_parameter_names(const Tensor& x) {
  const Tensor wide = x * torch::ones({8});  // expect: attention-implicit-promotion
  attend(at::conj(at::linalg_inv(wide)), x, x);
}
// Options that name no dtype make randint's numbers float32, which is a known miss.
void ok_options_without_dtype(const Tensor& x) {
  attend(torch::randint(5, {8}, torch::device(torch::kCPU)), x, x);
}
void bad_functional(const Tensor& x) {
  namespace F = torch::nn::functional;
  auto q = F::gelu(x) * F::relu(torch::ones({8}));  // expect: attention-implicit-promotion
  attend(q, x, x);
}
void ok_functional(const Tensor& x) {
  namespace F = torch::nn::functional;
  attend(F::gelu(x), F::silu(x), F::relu(x, F::ReLUFuncOptions().inplace(true)));
}
void ok_spellings(const Tensor& x) {
  attend(at::mul(x, 2.0), torch::add(x, x), x.mul(torch::ones({8}, x.options())));
  attend((x - 1) / 2, -x, x.neg().exp().to(x.dtype()));
  attend(x.view({2, 4}).t(), torch::where(x > 0, x, torch::zeros_like(x)), x);
}

// TensorOptions.
void bad_options_chain(const Tensor& x) {
  auto options = torch::TensorOptions().dtype(torch::kFloat32).device(x.device()).requires_grad(false);
  auto q = x * torch::arange(8, options);  // expect: attention-implicit-promotion
  attend(q, x, x);
}
void bad_options_of(const Tensor& x) {
  auto q = x * torch::empty({8}, x.options().dtype(at::kFloat));  // expect: attention-implicit-promotion
  attend(q, x, x);
}
void bad_dtype_template(const Tensor& x) {
  auto q = x * torch::ones({8}, torch::dtype<float>());  // expect: attention-implicit-promotion
  attend(q, x, x);
}
void ok_options(const Tensor& x) {
  auto options = torch::dtype(x.scalar_type()).device(x.device()).layout(torch::kStrided);
  attend(x * torch::arange(8, options), x * torch::empty({8}, x.options().requires_grad(false)), x);
  attend(x * torch::ones({8}, at::TensorOptions(x.dtype())), x * torch::full_like(x, 3.0f), x);
}

// Numbers: a Scalar and a 0-dim tensor do not widen, one dimension does.
void ok_numbers(const Tensor& x) {
  const double scale = 0.5;
  const at::Scalar boxed = 0.25f;
  attend(x * scale, x * boxed, x * torch::tensor(0.5f));
  attend(x * torch::scalar_tensor(2.0), x * torch::full({}, 2.0), x / torch::ones({8}).sum());
}
void bad_one_dimension(const Tensor& x) {
  auto q = x * torch::tensor({0.5f});  // expect: attention-implicit-promotion
  attend(q, x, x);
}
void bad_unsqueezed_scalar(const Tensor& x) {
  auto q = x * torch::scalar_tensor(2.0).unsqueeze(0);  // expect: attention-implicit-promotion
  attend(q, x, x);
}

// In place keeps the dtype; `out` has its own.
void ok_in_place(const Tensor& x) {
  Tensor q = x.clone();
  q *= torch::ones({8});
  q.mul_(torch::ones({8})).add_(1.0);
  Tensor k = torch::empty_like(x);
  at::mul_out(k, x, torch::ones({8}));
  attend(q, k, x);
}
void bad_in_place_of_wide(const Tensor& x) {
  Tensor q = torch::zeros({2, 8});  // expect: attention-mixed-dtypes
  q += x;
  attend(q, x, x);
}
void bad_copied_into(const Tensor& x) {
  Tensor q = torch::empty({2, 8}, at::kFloat);  // expect: attention-mixed-dtypes
  q.copy_(x);
  q.slice(0, 0, 1).mul_(2);
  attend(q, x, x);
}
void bad_out(const Tensor& x) {
  Tensor wide = torch::empty({8});  // expect: attention-mixed-dtypes
  at::mul_out(wide, x, x);
  attend(wide, x, x);
}
void ok_copied_into(const Tensor& x) {
  Tensor q = torch::empty({2, 8}, x.options());
  q.copy_(x.to(at::kFloat) * torch::ones({8}));
  q.index_put_({0}, torch::ones({8}));
  attend(q, x, x);
}

// Casts.
void ok_casts(const Tensor& x) {
  const Tensor wide = x * torch::ones({8});
  attend(wide.to(x), wide.type_as(x), wide.to(x.options()));
  attend(wide.to(x.device(), x.scalar_type()), wide.toType(x.scalar_type()), wide.to(x.dtype(), true, false));
}
void bad_cast_of_one(const Tensor& x) {
  auto q = x.to(torch::kFloat32) * 0.125;  // expect: attention-mixed-dtypes
  attend(q, x, x);
}
void bad_softmax_in_float(const Tensor& x) {
  auto scores = x.softmax(-1, torch::kFloat);  // expect: attention-mixed-dtypes
  attend(scores, x, x);
}
