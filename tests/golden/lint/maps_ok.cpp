// Maps that hold both dtypes, and writes to elements of unknown key.
#include <map>
#include <string>

#include "attention.h"

using Parts = std::map<std::string, at::Tensor>;

void told_apart(const at::Tensor& x, const at::Tensor& table) {
  Parts parts;
  parts["table"] = table;
  parts["q"] = x;
  attend(parts["q"], parts.at("q"), x);
}

void replaced(const at::Tensor& x, const at::Tensor& table) {
  Parts parts = {{"q", x * table}};
  parts["q"] = x;
  attend(parts["q"], x, x);
}

void converted_in_a_loop(const at::Tensor& x, const at::Tensor& table) {
  Parts parts;
  parts["q"] = x * table;
  for (auto& [name, part] : parts) part = part.to(torch::kHalf);
  attend(parts["q"], x, x);
}

void found_and_changed(const at::Tensor& x, const at::Tensor& table) {
  Parts parts;
  parts["q"] = x * table;
  auto place = parts.find("q");
  if (place != parts.end()) place->second = x;
  attend(parts["q"], x, x);
}

void moved_on(const at::Tensor& x, const at::Tensor& table) {
  Parts parts;
  parts["q"] = x * table;
  parts["r"] = x;
  auto place = parts.find("q");
  ++place;
  attend(place->second, x, x);
  auto back = parts.find("q");
  back++;
  attend(back->second, x, x);
}

void another(const at::Tensor& x, const at::Tensor& table) {
  Parts parts;
  parts["q"] = x * table;
  parts["r"] = x;
  auto place = parts.find("q");
  place = parts.find("r");
  attend(place->second, x, x);
  Parts::const_iterator found = parts.find("q");
  if (found == parts.end()) found = parts.find("r");
  found = parts.begin();
  attend(found->second, x, x);
}

void erased(const at::Tensor& x, const at::Tensor& table) {
  Parts parts;
  parts["q"] = parts["k"] = x * table;
  parts.erase("q");
  parts.erase(parts.find("k"));
  if (parts.find("q") != parts.end()) attend(parts["q"], x, x);
  if (parts.find("k") != parts.end()) attend(parts["k"], x, x);
}

void copied(const at::Tensor& x, const at::Tensor& table) {
  Parts parts = {{"q", x}};
  Parts other = parts;
  other["q"] = x * table;
  attend(parts["q"], x, x);
}

void unnamed(const at::Tensor& x, const at::Tensor& table, const std::string& key) {
  Parts parts;
  parts[key] = x * table;
  parts["q"] = x;
  attend(parts["q"], x, x);
}

void swapped(const at::Tensor& x, const at::Tensor& table) {
  Parts parts = {{"q", x * table}}, other = {{"q", x}};
  parts.swap(other);
  attend(parts["q"], x, x);
}

int main() {
  const at::Tensor x = torch::zeros({1, 2, 3, 4}, torch::kHalf), table = torch::ones({3, 4});
  told_apart(x, table);
  replaced(x, table);
  converted_in_a_loop(x, table);
  found_and_changed(x, table);
  moved_on(x, table);
  another(x, table);
  erased(x, table);
  copied(x, table);
  unnamed(x, table, "k");
  swapped(x, table);
}
