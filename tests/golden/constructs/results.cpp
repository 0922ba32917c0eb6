// What an operator gives when its dtype hangs on how it is called: with a rounding mode, with the number
// first, as the second of several results, from numbers that keep their C++ type.
#include <torch/nn/functional/upsampling.h>
#include <torch/types.h>

#include <tuple>
#include <vector>

#include "attention.h"

using at::Tensor;

// A rounding mode keeps integers.
void ok_rounded(const Tensor& x) {
  const Tensor position = torch::arange(8);
  attend(x * torch::div(position, 2, "floor"), x * position.div(position, "trunc"), x);
  attend(x * at::div(position, 2, /*rounding_mode=*/"floor"), x, x);
}
void bad_not_rounded(const Tensor& x) {
  const Tensor position = torch::arange(8);
  auto q = x * torch::div(position, 2, c10::nullopt);  // expect: attention-implicit-promotion
  attend(q, x, x);
}
void bad_rounded_float(const Tensor& x) {
  auto q = x * torch::div(torch::ones({8}), 2, "floor");  // expect: attention-implicit-promotion
  attend(q, x, x);
}
void ok_rounding_mode_is_not_known(const Tensor& x, bool rounds) {
  const char* mode = rounds ? "floor" : "trunc";
  attend(x * torch::div(torch::arange(8), 2, mode), x, x);
}

// A number first: C++ fills a tensor like the second operand.
void ok_number_first(const Tensor& x) {
  const Tensor mask = torch::ones({8}, at::kLong);
  attend(x * (1.0 - mask), x * (1.5 - mask), 2.0 / x);
}
void bad_number_first(const Tensor& x) {
  auto q = x * (1.0 - torch::ones({8}));  // expect: attention-implicit-promotion
  attend(q, x, x);
}
void bad_number_last(const Tensor& x) {
  const Tensor mask = torch::ones({8}, at::kLong);
  auto q = x * (mask - 1.0);  // expect: attention-implicit-promotion
  attend(q, x, x);
}
void bad_exchanged(const Tensor& x) {
  const Tensor mask = torch::ones({8}, at::kLong);
  auto q = x * (1.5 + mask);  // expect: attention-implicit-promotion
  attend(q, x, x);
}

// Values and positions.
void ok_second_results(const Tensor& x) {
  const Tensor wide = torch::ones({8, 8});
  attend(x * std::get<1>(wide.max(0)), x * std::get<1>(at::topk(wide, 2)), x * std::get<1>(wide.median(0)));
  auto [values, positions] = wide.sort();
  attend(x * positions, x * std::get<1>(torch::mode(wide)), x * std::get<1>(at::cummax(wide, 0)));
  Tensor largest, at;
  std::tie(largest, at) = at::min(wide, 1);
  attend(x * at, x * std::get<1>(at::frexp(wide)), x);
}
void bad_first_result(const Tensor& x) {
  auto q = x * std::get<0>(torch::topk(torch::ones({8, 8}), 2));  // expect: attention-implicit-promotion
  attend(q, x, x);
}
void bad_bound_first_result(const Tensor& x) {
  auto [values, positions] = torch::ones({8, 8}).sort();
  auto q = x * values;  // expect: attention-implicit-promotion
  attend(q, x, x);
}
void bad_second_of_alike(const Tensor& x) {
  auto q = x * std::get<1>(at::aminmax(torch::ones({8, 8}), 0));  // expect: attention-implicit-promotion
  attend(q, x, x);
}

// at::tensor keeps the type of the numbers and has a dimension; torch::tensor gives what Python's does.
void bad_double(const Tensor& x) {
  auto q = x * at::tensor(2.0);  // expect: attention-implicit-promotion
  attend(q, x, x);
}
void bad_doubles(const Tensor& x) {
  const std::vector<double> scales = {1, 2};
  auto q = x * at::tensor(scales);  // expect: attention-implicit-promotion
  attend(q, x, x);
}
void bad_options_without_dtype(const Tensor& x) {
  auto q = x * at::tensor({1, 2}, at::device(at::kCPU));  // expect: attention-implicit-promotion
  attend(q, x, x);
}
void bad_complex_numbers(const Tensor& x) {
  attend(x * torch::tensor({c10::complex<float>(1, 0)}), x, x);  // expect: attention-mixed-dtypes
  const c10::complex<double> turn(0, 1);
  attend(x.unsqueeze(0) * torch::tensor(turn), x, x);  // expect: attention-mixed-dtypes
}
void ok_numbers_of_integers(const Tensor& x) {
  attend(x * at::tensor({1, 2}), x * at::tensor(std::vector<int64_t>{1, 2}),
         x * at::tensor({1.0, 2.0}, x.options()));
  attend(x * torch::tensor(2.0), x * torch::tensor({1, 2}), x * torch::tensor(std::vector<uint8_t>{1, 2}));
}

// A shape is `size`, `shape`, `repeats`, `dims` or `sizes` by the headers: each tells that there are
// dimensions.
void bad_shaped(const Tensor& x, at::IntArrayRef some, float* data) {
  attend(x + torch::rand(some).view({1, 8}), x, x);                 // expect: attention-implicit-promotion
  attend(x + torch::rand(some).reshape({1, 8}), x, x);              // expect: attention-implicit-promotion
  attend(x + torch::rand(some).repeat({2, 8}), x, x);               // expect: attention-implicit-promotion
  attend(x + torch::rand(some).tile({2, 8}), x, x);                 // expect: attention-implicit-promotion
  attend(x + torch::from_blob(data, {1, 8}, torch::kFloat), x, x);  // expect: attention-implicit-promotion
}
void ok_shaped(const Tensor& x, at::IntArrayRef some) {
  attend(x + torch::rand(some).reshape({}), x, x);
  attend(x + torch::rand(some).reshape(some), x, x);
}

// What has no dimension gets one before it is joined to others.
void bad_joined_scalar(const Tensor& x) {
  attend(torch::hstack({torch::full({}, 1.0), x}), x, x);  // expect: attention-implicit-promotion
}

// Autocast has float32 for every way to resize but the mean of areas. 1.13 lists none, so only newer headers
// can tell.
void ok_resized_by_area(const Tensor& x) {
  namespace F = torch::nn::functional;
  const auto half = std::vector<double>({0.5});
  attend(F::interpolate(x, F::InterpolateFuncOptions().scale_factor(half).mode(torch::kArea)), x, x);
}
void ok_resized_in_a_mode_made_elsewhere(const Tensor& x,
                                         const torch::nn::functional::InterpolateFuncOptions& how) {
  attend(torch::nn::functional::interpolate(x, how), x, x);
}
