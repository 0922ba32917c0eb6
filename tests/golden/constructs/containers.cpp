// Where a tensor is kept on its way: optionals, vectors, lists, tuples, maps, pointers.
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "attention.h"

using at::Tensor;

// Optionals, std's and c10's.
Tensor scaled(const Tensor& x, const c10::optional<Tensor>& scale) {
  return scale.has_value() ? x * scale.value() : x;  // expect: attention-implicit-promotion
}
void bad_optional(const Tensor& x) {
  const c10::optional<Tensor> ones = torch::ones({8});
  attend(scaled(x, ones), x, x);
}
void bad_standard_optional(const Tensor& x) {
  std::optional<Tensor> table;
  table = torch::ones({8});
  if (table) {
    auto q = x * *table;  // expect: attention-implicit-promotion
    attend(q, x, x);
  }
}
void ok_optional(const Tensor& x) {
  c10::optional<Tensor> none;
  std::optional<Tensor> half(torch::ones({8}, x.options()));
  Tensor q = none ? x * *none : x;
  if (half.has_value()) q = q * half->contiguous();
  attend(q, x * half.value_or(x), x);
}

// Vectors and lists.
void bad_vector(const Tensor& x) {
  std::vector<Tensor> parts;
  parts.reserve(2);
  parts.push_back(x);
  parts.emplace_back(x * torch::ones({8}));  // expect: attention-implicit-promotion
  attend(torch::cat(parts), x, x);
}
void bad_stack(const Tensor& x) {
  auto q = torch::stack({x, torch::ones({8})});  // expect: attention-implicit-promotion
  attend(q, x, x);
}
Tensor joined(at::TensorList parts) { return at::cat(parts, -1); }  // expect: attention-implicit-promotion
void bad_list(const Tensor& x) { attend(joined({x, torch::ones({8})}), x, x); }
void ok_list(const Tensor& x) {
  const std::vector<Tensor> parts{x, x * torch::ones({8}, x.options())};
  const at::TensorList list(parts);
  attend(joined(parts), list[1], list.front());
}
void bad_array(const Tensor& x) {
  std::array<Tensor, 2> both = {x, torch::ones({8})};
  auto q = both[0] * both[1];  // expect: attention-implicit-promotion
  attend(q, x, x);
}
void bad_loop_over_parts(const Tensor& x) {
  std::vector<Tensor> out;
  for (const Tensor& part : x.chunk(3, -1)) {
    out.push_back(part * torch::ones({8}));  // expect: attention-implicit-promotion
  }
  attend(out[0], x, x);
}
void ok_vector(const Tensor& x) {
  std::vector<Tensor> parts = {x * torch::ones({8}), x};
  for (Tensor& part : parts) part = part.to(x.scalar_type());
  attend(parts[0], parts.back(), torch::cat(parts));
  auto split = x.split(8, -1);
  attend(split[0], split[1], split.at(2));
  std::vector<Tensor> made(3, x);
  made[1] = x * 2;
  attend(made[0], made[1], made[2]);
}
void ok_sizes(const Tensor& x) {
  std::vector<int64_t> shape(x.sizes().begin(), x.sizes().end());
  shape.push_back(8);
  attend(torch::zeros(shape, x.options()), x.expand(shape), x.reshape(x.sizes()));
}

// Tuples and structured bindings.
std::tuple<Tensor, Tensor> rotate(const Tensor& q, const Tensor& k) {
  const Tensor cos = torch::arange(8, torch::kFloat).cos();
  return std::make_tuple(q * cos, k * cos);  // expect: attention-implicit-promotion
}
void bad_bindings(const Tensor& q, const Tensor& k, const Tensor& v) {
  auto [rotated_q, rotated_k] = rotate(q, k);
  attend(rotated_q, rotated_k, v);
}
std::pair<Tensor, Tensor> halves(const Tensor& x) {
  return {x, x * torch::ones({8})};  // expect: attention-implicit-promotion
}
void bad_pair(const Tensor& x) {
  auto both = halves(x);
  attend(both.first, both.second, x);
}
void ok_tied(const Tensor& x) {
  Tensor values, indices;
  std::tie(values, indices) = x.max(-1);
  const auto [sorted, order] = x.sort(-1);
  attend(values, sorted, std::get<0>(x.topk(4)));
  auto parts = x.chunk(2, -1);
  attend(parts[0], parts[1], x);
  attend(std::get<1>(std::make_tuple(x * torch::ones({8}), x)), x, x);
}

// Maps whose elements all have the dtype of x.
void ok_map(const Tensor& x) {
  std::unordered_map<std::string, Tensor> state;
  state["k"] = x;
  state.emplace("v", x * 2);
  state.insert({"q", x});
  attend(state.at("q"), state["k"], state["v"]);
  const auto found = state.find("k");
  if (found != state.end()) attend(found->second, x, x);
}
// Which key is read is not known, and one of them is half.
void ok_other_key(const Tensor& x) {
  std::map<std::string, Tensor> parts;
  parts["scores"] = x * torch::ones({8});
  parts["q"] = x;
  attend(parts["q"], x, x);
}

// Pointers and references.
void widen(Tensor& t) { t = t * torch::ones({8}); }  // expect: attention-implicit-promotion
void bad_out_parameter(Tensor x, const Tensor& k) {
  widen(x);
  attend(x, k, k);
}
void widen_pointee(Tensor* t) { *t = *t + torch::ones({8}); }  // expect: attention-implicit-promotion
void restore(Tensor& t, at::ScalarType dtype) { t = (t * torch::ones({8})).to(dtype); }
void ok_out_parameter(Tensor x, const Tensor& k) {
  restore(x, k.scalar_type());
  attend(x, k, k);
}
void bad_pointer(Tensor x, const Tensor& k) {
  widen_pointee(&x);
  attend(x, k, k);
}
void bad_shared(const Tensor& x) {
  auto held = std::make_shared<Tensor>(x * torch::ones({8}));  // expect: attention-implicit-promotion
  attend(*held, x, x);
}
void bad_reference(Tensor x, const Tensor& k) {
  Tensor& same = x;
  same = same * torch::ones({8});  // expect: attention-implicit-promotion
  attend(x, k, k);
}
void ok_reference(Tensor x, const Tensor& k) {
  Tensor wide = x * torch::ones({8});
  Tensor& same = wide;
  same = same.to(k.scalar_type());
  std::swap(wide, x);
  attend(x, wide, k);
}
