// Keys and values of earlier steps, in what programs keep them in: optionals of tuples and pairs, arrays,
// maps, variants, structs of these.
#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "attention.h"

using at::Tensor;
using Past = std::optional<std::tuple<Tensor, Tensor>>;

Tensor wide_empty() { return torch::zeros({2, 8, 0, 64}); }  // the default dtype, whatever the model's

// An empty past of the default dtype promotes what is joined to it.
void bad_optional_of_tuple(const Tensor& q, Tensor k, Tensor v) {
  Past past = std::make_tuple(wide_empty(), wide_empty());
  if (past.has_value()) {
    k = torch::cat({std::get<0>(*past), k}, 2);  // expect: attention-implicit-promotion
    v = torch::cat({std::get<1>(*past), v}, 2);  // expect: attention-implicit-promotion
  }
  attend(q, k, v);
}
void bad_through_arrow(const Tensor& q, const Tensor& k, Tensor v) {
  std::optional<std::pair<Tensor, Tensor>> past;
  past = std::make_pair(k, wide_empty());
  if (past) v = torch::cat({past->second, v}, 2);  // expect: attention-implicit-promotion
  attend(q, torch::cat({past->first, k}, 2), v);
}
void bad_value(const Tensor& q, const Tensor& k, Tensor v) {
  Past past;
  past.emplace(k, wide_empty());
  auto [past_k, past_v] = past.value();
  v = torch::cat({past_v, v}, 2);  // expect: attention-implicit-promotion
  attend(q, torch::cat({past_k, k}, 2), v);
}
// Handed in, and joined in another function.
std::tuple<Tensor, Tensor> joined(const Past& past, const Tensor& k, const Tensor& v) {
  if (!past) return {k, v};
  const auto& [past_k, past_v] = *past;
  return {torch::cat({past_k, k}, 2), torch::cat({past_v, v}, 2)};  // expect: attention-implicit-promotion
}
void bad_handed_in(const Tensor& q, const Tensor& k, const Tensor& v) {
  auto [all_k, all_v] = joined(std::make_tuple(k, wide_empty()), k, v);
  attend(q, all_k, all_v);
}
void ok_optional_of_tuple(const Tensor& q, Tensor k, Tensor v, const Past& given) {
  Past past = std::make_tuple(torch::zeros({2, 8, 0, 64}, k.options()), v.new_zeros({2, 8, 0, 64}));
  if (given) past = given;
  if (past.has_value()) {
    k = torch::cat({std::get<0>(*past), k}, 2);
    v = torch::cat({std::get<1>(*past), v}, 2);
  }
  attend(q, k, v);
}
void ok_cast_before_it_is_joined(const Tensor& q, const Tensor& k, Tensor v) {
  Past past = std::make_tuple(k, wide_empty());
  if (past) v = torch::cat({std::get<1>(*past).to(v.scalar_type()), v}, 2);
  attend(q, torch::cat({std::get<0>(*past), k}, 2), v);
}
void ok_no_past(const Tensor& q, Tensor k, const Tensor& v) {
  const Past past = std::nullopt;
  if (past) k = torch::cat({std::get<0>(*past), k.to(torch::kFloat)}, 2);
  attend(q, k, v);
}

// A past that callers hand in has the dtype of the tensors that they hand in.
Tensor bad_past_of_callers(const Tensor& q, const Tensor& k, const Tensor& v,
                           const std::pair<Tensor, Tensor>& past) {
  const Tensor all_k = torch::cat({past.first, k}, 2), all_v = torch::cat({past.second, v}, 2);
  const Tensor wide = q * torch::ones({64});  // expect: attention-mixed-dtypes
  const Tensor weights = torch::matmul(wide, all_k.transpose(2, 3)).softmax(-1);
  return torch::matmul(weights.to(v.scalar_type()), all_v);
}
void ok_past_of_callers(const Tensor& q, Tensor k, Tensor v, Past& past, std::pair<Tensor, Tensor> more) {
  if (past.has_value()) {
    k = torch::cat({std::get<0>(past.value()), k}, 2);
    v = torch::cat({std::get<1>(past.value()), v}, 2);
  }
  attend(q, torch::cat({more.first, k}, 2), torch::cat({more.second, v}, 2));
  past = std::make_tuple(k, v);
}

// What is joined has dimensions, else joining throws: a wide past widens the rest, of however many it may be.
void bad_wide_past_of_callers(const Tensor& q, Tensor k, const Tensor& v, const Past& past) {
  if (past) k = torch::cat({std::get<0>(*past).to(torch::kFloat), k}, 2);  // expect: attention-mixed-dtypes
  attend(q, k, v);
}
void ok_wide_past_of_callers(const Tensor& q, Tensor k, const Tensor& v, const Past& past) {
  if (past) k = torch::cat({std::get<0>(*past).to(torch::kFloat), k}, 2).to(q.scalar_type());
  attend(q, k, v);
}
// A sum with what may have none says nothing of it.
void ok_wide_scale_of_callers(const Tensor& q, Tensor k, const Tensor& v, const Past& past) {
  if (past) k = k + std::get<0>(*past).to(torch::kFloat);
  attend(q, k, v);
}

// Arrays and layers of them.
void bad_array(const Tensor& q, const Tensor& k, const Tensor& v) {
  std::array<Tensor, 2> past = {k, wide_empty()};
  attend(q, torch::cat({past[0], k}, 2),
         torch::cat({std::get<1>(past), v}, 2));  // expect: attention-implicit-promotion
}
void bad_layers(const Tensor& q, const Tensor& k, const Tensor& v) {
  std::vector<std::pair<Tensor, Tensor>> layers;
  for (int i = 0; i < 4; ++i) layers.emplace_back(wide_empty(), wide_empty());
  for (auto& [past_k, past_v] : layers) {
    past_k = torch::cat({past_k, k}, 2);  // expect: attention-implicit-promotion
    past_v = torch::cat({past_v, v}, 2);  // expect: attention-implicit-promotion
    attend(q, past_k, past_v);
  }
}
void ok_layers(const Tensor& q, const Tensor& k, const Tensor& v) {
  std::vector<Past> layers(4);
  for (Past& past : layers) {
    const Tensor all_k = past ? torch::cat({std::get<0>(*past), k}, 2) : k;
    const Tensor all_v = past ? torch::cat({std::get<1>(*past), v}, 2) : v;
    past = std::make_tuple(all_k, all_v);
    attend(q, all_k, all_v);
  }
}

// Maps of pairs, by a constant key and by a layer's number.
void bad_map(const Tensor& q, const Tensor& k, const Tensor& v) {
  std::map<int, std::pair<Tensor, Tensor>> past;
  past[0] = {k, wide_empty()};
  attend(q, torch::cat({past[0].first, k}, 2),
         torch::cat({past.at(0).second, v}, 2));  // expect: attention-implicit-promotion
}
void ok_map(const Tensor& q, const Tensor& k, const Tensor& v, int layer) {
  std::unordered_map<std::string, std::tuple<Tensor, Tensor>> past;
  past["wide"] = {wide_empty(), wide_empty()};
  past["self"] = {k, v};
  const auto& [past_k, past_v] = past["self"];
  std::map<int, Past> numbered;
  numbered[layer] = std::make_tuple(past_k, past_v);
  if (const auto found = numbered.find(layer); found != numbered.end() && found->second)
    attend(q, torch::cat({std::get<0>(*found->second), k}, 2), v);
}

// Variants: of the member that is there, and of none that is not.
void bad_variant(const Tensor& q, const Tensor& k, const Tensor& v) {
  std::variant<std::monostate, Tensor, std::pair<Tensor, Tensor>> past;
  past = wide_empty();
  attend(q, k, torch::cat({std::get<Tensor>(past), v}, 2));  // expect: attention-implicit-promotion
}
void bad_variant_by_pointer(const Tensor& q, const Tensor& k, Tensor v) {
  std::variant<Tensor, std::vector<Tensor>> past = wide_empty();
  if (const Tensor* one = std::get_if<Tensor>(&past))
    v = torch::cat({*one, v}, 2);  // expect: attention-implicit-promotion
  attend(q, k, v);
}
void ok_variant(const Tensor& q, const Tensor& k, Tensor v, bool kept) {
  std::variant<std::monostate, Tensor> past;
  if (kept) past = v;
  if (std::holds_alternative<Tensor>(past)) v = torch::cat({std::get<Tensor>(past), v}, 2);
  attend(q, k, v);
}

// In a struct that is handed on.
struct State {
  Past past;
  std::optional<Tensor> bias;
};
void bad_in_struct(const Tensor& q, const Tensor& k, const Tensor& v) {
  State state;
  state.past = std::make_tuple(k, wide_empty());
  attend(q, k, torch::cat({std::get<1>(*state.past), v}, 2));  // expect: attention-implicit-promotion
}
void ok_in_struct(State& state, const Tensor& q, const Tensor& k, const Tensor& v) {
  const Tensor all = state.past ? torch::cat({std::get<1>(state.past.value()), v}, 2) : v;
  state.past = std::make_tuple(k, all);
  attend(q, std::get<0>(*state.past), std::get<1>(*state.past));
}
