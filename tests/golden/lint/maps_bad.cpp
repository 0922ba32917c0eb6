// Tensors in maps: an element with a constant key is a place of its own.
#include <map>
#include <string>
#include <unordered_map>

#include "attention.h"

constexpr const char* kQuery = "query";

void by_literal(const at::Tensor& x, const at::Tensor& table) {
  std::map<std::string, at::Tensor> parts;
  parts["q"] = x * table;  // expect: attention-implicit-promotion
  parts["k"] = x;
  attend(parts["q"], parts["k"], x);
}

void by_constant(const at::Tensor& x, const at::Tensor& table) {
  std::unordered_map<std::string, at::Tensor> parts;
  parts.emplace(kQuery, x * table);  // expect: attention-implicit-promotion
  parts.insert_or_assign("key", x);
  attend(parts.at("query"), parts.at("key"), parts["key"]);
}

void by_number(const at::Tensor& x, const at::Tensor& table) {
  const std::map<int, at::Tensor> parts = {{0, x * table}, {1, x}};  // expect: attention-implicit-promotion
  attend(parts.at(0), parts.at(1), parts.at(1));
}

void filled(std::map<std::string, at::Tensor>& parts, const at::Tensor& x, const at::Tensor& table) {
  parts["q"] = x * table;  // expect: attention-implicit-promotion
}

void by_reference(const at::Tensor& x, const at::Tensor& table) {
  std::map<std::string, at::Tensor> parts;
  filled(parts, x, table);
  attend(parts["q"], x, x);
}

void in_loop(const at::Tensor& x, const at::Tensor& table) {
  const std::map<std::string, at::Tensor> parts = {{"q", x * table}};  // expect: attention-implicit-promotion
  for (const auto& [name, part] : parts) attend(part, x, x);
}

void found(const at::Tensor& x, const at::Tensor& table) {
  std::map<std::string, at::Tensor> parts;
  parts["q"] = x * table;  // expect: attention-implicit-promotion
  parts["k"] = x;
  attend(parts.find("q")->second, parts.find("k")->second, x);
}

void looked_up(const std::unordered_map<std::string, at::Tensor>& parts, const at::Tensor& x) {
  std::unordered_map<std::string, at::Tensor>::const_iterator place = parts.find("q");
  const auto copy = place;
  if (place != parts.end()) attend((*copy).second, x, x);
}

void copied_place(const at::Tensor& x, const at::Tensor& table) {
  std::unordered_map<std::string, at::Tensor> parts;
  parts["q"] = x * table;  // expect: attention-implicit-promotion
  looked_up(parts, x);
}

void widened_where_it_is(const at::Tensor& x, const at::Tensor& table) {
  std::unordered_map<std::string, at::Tensor> parts = {{"q", x}};
  if (auto place = parts.find("q"); place != parts.end()) {
    place->second = place->second * table;  // expect: attention-implicit-promotion
  }
  attend(parts.at("q"), x, x);
}

int main() {
  const at::Tensor x = torch::zeros({1, 2, 3, 4}, torch::kHalf), table = torch::ones({3, 4});
  by_literal(x, table);
  by_constant(x, table);
  by_number(x, table);
  by_reference(x, table);
  in_loop(x, table);
  found(x, table);
  copied_place(x, table);
  widened_where_it_is(x, table);
}
