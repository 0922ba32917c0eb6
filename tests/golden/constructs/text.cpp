// Strings that decide: what they hold is known until something other than an assignment may have changed it.
#include <algorithm>
#include <cctype>
#include <cstring>
#include <istream>
#include <string>
#include <string_view>

#include "attention.h"

using at::Tensor;

// A literal on its way into a function.
Tensor by_view(const Tensor& x, std::string_view mode) { return mode == "wide" ? x.to(at::kFloat) : x; }
Tensor by_pointer(const Tensor& x, const char* mode) {
  if (std::string(mode) == "wide") return x.to(at::kFloat);
  return x;
}
Tensor by_strcmp(const Tensor& x, const char* mode) {
  if (!strcmp(mode, "wide")) return x.to(at::kFloat);
  if (std::strcmp(mode, "narrow") != 0) return x.to(at::kFloat);
  return x;
}
Tensor by_compare(const Tensor& x, const std::string& mode) {
  return mode.compare("wide") == 0 || std::strcmp(mode.c_str(), "wide") == 0 ? x.to(at::kFloat) : x;
}
Tensor unless_empty(const Tensor& x, std::string mode = "") { return mode.empty() ? x : x.to(at::kFloat); }
std::string usual() { return "narrow"; }
void ok_literals(const Tensor& x) {
  attend(by_view(x, "narrow"), x, x);
  attend(by_view(x, usual()), x, x);
  attend(by_pointer(x, "narrow"), x, x);
  attend(by_strcmp(x, "narrow"), x, x);
  attend(by_compare(x, "narrow"), x, x);
  attend(unless_empty(x), x, x);
}
Tensor by_literal_view(const Tensor& x, std::string_view mode) {
  return mode == "wide" ? x.to(at::kFloat) : x;  // expect: attention-mixed-dtypes
}
Tensor by_literal_pointer(const Tensor& x, const char* mode) {
  return std::strcmp(mode, "wide") == 0 ? x.to(at::kFloat) : x;  // expect: attention-mixed-dtypes
}
void bad_literals(const Tensor& x) {
  attend(by_literal_view(x, "wide"), x, x);
  attend(by_literal_pointer(x, "wide"), x, x);
}
void bad_any_text(const Tensor& x, const char* mode) {
  Tensor q = x;
  if (std::string(mode) == "wide") q = q.to(at::kFloat);  // expect: attention-mixed-dtypes
  attend(q, x, x);
}
void ok_one_question(const Tensor& x, const char* mode, const std::string& other) {
  Tensor q = x;
  if (std::strcmp(mode, "wide") == 0) q = q.to(at::kFloat);
  if (!strcmp(mode, "wide")) q = q.to(x.scalar_type());
  if (other == "wide") q = q.to(at::kFloat);
  if (other == "wide") q = q.to(x.scalar_type());
  attend(q, x, x);
}

// Variables.
void ok_variables(const Tensor& x, bool first) {
  std::string_view view = "narrow";
  std::string text = "wide", other = first ? "narrow" : "half";
  text = view;
  Tensor q = x;
  if (view == "wide" || text == "wide" || other == "wide") q = q.to(at::kFloat);
  attend(q, x, x);
}
void ok_emptied(const Tensor& x) {
  std::string mode = "wide";
  mode = {};
  Tensor q = x;
  if (mode == "wide") q = q.to(at::kFloat);
  attend(q, x, x);
}
void bad_assigned(const Tensor& x) {
  std::string mode = "narrow";
  mode = "wide";
  Tensor q = x;
  if (mode == "wide") q = q.to(at::kFloat);  // expect: attention-mixed-dtypes
  attend(q, x, x);
}
void bad_appended(const Tensor& x) {
  std::string mode = "w";
  mode += "ide";
  Tensor q = x;
  if (mode == "wide") q = q.to(at::kFloat);  // expect: attention-mixed-dtypes
  attend(q, x, x);
}
void bad_read(const Tensor& x, std::istream& in) {
  std::string mode;
  int count = 0;
  in >> mode >> count;
  Tensor q = x;
  if (mode == "wide") q = q.to(at::kFloat);  // expect: attention-mixed-dtypes
  attend(q, x, x);
  Tensor k = x;
  if (count == 2) k = k.to(at::kFloat);  // expect: attention-mixed-dtypes
  attend(x, k, x);
}
void bad_lowered(const Tensor& x) {
  std::string mode = "WIDE", letters = "WIDE";
  std::transform(mode.begin(), mode.end(), mode.begin(), [](unsigned char c) { return std::tolower(c); });
  for (char& each : letters) each = static_cast<char>(std::tolower(each));
  Tensor q = x;
  if (mode == "wide") q = q.to(at::kFloat);  // expect: attention-mixed-dtypes
  attend(q, x, x);
  Tensor k = x;
  if (letters == "wide") k = k.to(at::kFloat);  // expect: attention-mixed-dtypes
  attend(x, k, x);
}
void narrowed(std::string& mode) { mode = "narrow"; }
void changed_elsewhere(std::string& mode);
void ok_by_reference(const Tensor& x) {
  std::string mode = "wide";
  narrowed(mode);
  Tensor q = x;
  if (mode == "wide") q = q.to(at::kFloat);
  attend(q, x, x);
}
void bad_by_reference(const Tensor& x) {
  std::string mode = "narrow";
  changed_elsewhere(mode);
  Tensor q = x;
  if (mode == "wide") q = q.to(at::kFloat);  // expect: attention-mixed-dtypes
  attend(q, x, x);
}
void bad_through_lambda_and_pointer(const Tensor& x) {
  std::string mode = "narrow", other = "narrow";
  const auto widen = [&] { mode = "wide"; };
  widen();
  Tensor q = x;
  if (mode == "wide") q = q.to(at::kFloat);  // expect: attention-mixed-dtypes
  attend(q, x, x);
  std::string* const pointer = &other;
  pointer->append("er");
  Tensor k = x;
  if (other == "narrower") k = k.to(at::kFloat);  // expect: attention-mixed-dtypes
  attend(x, k, x);
}

// Fields.
struct Block {
  explicit Block(std::string mode) : mode_(std::move(mode)) {}
  Tensor forward(const Tensor& x) { return mode_ == "wide" ? x.to(at::kFloat) : x; }

 private:
  std::string mode_;
};
void ok_made_with(const Tensor& x) {
  Block block("narrow");
  attend(block.forward(x), x, x);
}
class Appending {
 public:
  void widen() { mode_ += "ide"; }
  void bad(const Tensor& x) {
    Tensor q = x;
    if (mode_ == "wide") q = q.to(at::kFloat);  // expect: attention-mixed-dtypes
    attend(q, x, x);
  }

 private:
  std::string mode_ = "w";
};
