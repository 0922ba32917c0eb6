// What a tensor can be given: PyTorch throws where a result in place or into `out` does not go into it, and
// what stands behind is not reached; set_data gives it another dtype.
#include <exception>
#include <vector>

#include "attention.h"

using at::Tensor;

void ok_refused_method(const Tensor& x) {
  Tensor counts = torch::arange(8);
  counts.add_(torch::ones({8}));
  attend(x * torch::ones({8}), x, x);
}
void ok_refused_operator(const Tensor& x) {
  Tensor counts = torch::arange(8);
  counts += torch::ones({8});
  attend(x * torch::ones({8}), x, x);
}
void ok_refused_number(const Tensor& x) {
  Tensor counts = torch::arange(8);
  counts.mul_(1.5);
  attend(x * torch::ones({8}), x, x);
}
void ok_refused_quotient(const Tensor& x) {
  Tensor counts = torch::arange(8);
  counts /= 2;
  attend(x * torch::ones({8}), x, x);
}
void ok_refused_division(const Tensor& x, bool halved) {
  Tensor counts = halved ? torch::arange(8) : torch::zeros({8}, at::kInt);
  counts.div_(2);
  attend(x * torch::ones({8}), x, x);
}
void ok_refused_bool(const Tensor& x) {
  Tensor mask = torch::zeros({8}, at::kBool);
  mask.add_(1);
  attend(x * torch::ones({8}), x, x);
}
void ok_refused_root(const Tensor& x) {
  Tensor counts = torch::arange(8);
  counts.pow_(0.5);
  attend(x * torch::ones({8}), x, x);
}
void ok_refused_function(const Tensor& x) {
  Tensor counts = torch::arange(8);
  counts.sqrt_();
  attend(x * torch::ones({8}), x, x);
}
void ok_refused_out(const Tensor& x) {
  Tensor counts = torch::arange(8);
  at::add_out(counts, torch::ones({8}), torch::ones({8}, at::kHalf));
  attend(x * torch::ones({8}), x, x);
}
void refuse(Tensor& counts) { counts.add_(0.5); }
void ok_refused_in_callee(const Tensor& x) {
  Tensor counts = torch::arange(8);
  refuse(counts);
  attend(x * torch::ones({8}), x, x);
}
void bad_stored(const Tensor& x) {
  Tensor counts = torch::arange(8);
  counts.add_(1).mul_(counts);
  counts.div_(2, "floor");
  Tensor wide = torch::ones({8});
  wide.add_(counts).div_(2).sqrt_();
  at::add_out(wide, wide, torch::ones({8}, at::kDouble));
  attend(x * wide, x, x);  // expect: attention-implicit-promotion
}
void bad_refused_on_one_path(const Tensor& x, bool scaled) {
  Tensor counts = torch::arange(8);
  if (scaled) counts.mul_(0.5);
  attend(x * torch::ones({8}), x, x);  // expect: attention-implicit-promotion
}
void bad_refused_for_one_dtype(const Tensor& x, bool whole) {
  Tensor counts = whole ? torch::arange(8) : torch::ones({8});
  counts.mul_(0.5);
  attend(x * torch::ones({8}), x, x);  // expect: attention-implicit-promotion
}
void bad_refused_and_caught(const Tensor& x) {
  Tensor counts = torch::arange(8);
  try {
    counts.mul_(0.5);
  } catch (const std::exception&) {
    counts.zero_();
  }
  attend(x * torch::ones({8}), x, x);  // expect: attention-implicit-promotion
}
void bad_cpp_number(const Tensor& x) {
  int count = 8;
  count *= 1.5;
  count += 0.5f;
  attend(x * torch::ones({count}), x, x);  // expect: attention-implicit-promotion
}

// set_data: the variable's tensor has another dtype from there on.
void ok_set_data(const Tensor& x) {
  Tensor weight = torch::ones({8});
  weight.set_data(weight.to(x.scalar_type()));
  attend(x * weight, x, x);
}
void ok_set_data_half() {
  Tensor x = torch::zeros({2, 8}, at::kHalf), weight = torch::ones({8});
  weight.set_data(weight.to(at::kHalf));
  attend(x * weight, x, x);
}
void narrow(Tensor& weight) { weight.set_data(weight.to(at::kHalf)); }
void ok_set_data_in_callee() {
  Tensor x = torch::zeros({2, 8}, at::kHalf), weight = torch::ones({8});
  narrow(weight);
  attend(x * weight, x, x);
}
void ok_set_data_of_list() {
  Tensor x = torch::zeros({2, 8}, at::kHalf);
  std::vector<Tensor> weights = {torch::ones({8}), torch::ones({8})};
  for (auto& each : weights) each.set_data(each.to(at::kHalf));
  attend(x * weights[0], x * weights[1], x);
}
void bad_set_data_wide() {
  Tensor x = torch::zeros({2, 8}, at::kHalf), weight = torch::ones({8}, at::kHalf);
  weight.set_data(weight.to(at::kFloat));
  attend(x * weight, x, x);  // expect: attention-implicit-promotion
}
void bad_data_copied() {
  Tensor x = torch::zeros({2, 8}, at::kHalf), weight = torch::ones({8});
  weight.data().copy_(weight.to(at::kHalf));
  attend(x * weight, x, x);  // expect: attention-implicit-promotion
}
