// A dtype that something decides, for all operands alike or for one; questions about a dtype that are not
// written with
// ==.
#include <c10/util/Logging.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "attention.h"

using at::Tensor;

// One choice for all.
static at::ScalarType parsed(const std::string& name) {
  if (name == "fp16") return at::kHalf;
  if (name == "bf16") return at::kBFloat16;
  return at::kFloat;
}
void ok_configured(const Tensor& q, const Tensor& k, const Tensor& v, const std::string& name) {
  const auto dtype = parsed(name);
  attend(q.to(dtype), k.to(dtype), v.to(dtype));
}
enum class Precision { kHalf, kBrain };
static at::ScalarType listed(Precision precision) {
  switch (precision) {
    case Precision::kHalf:
      return at::kHalf;
    case Precision::kBrain:
      return at::kBFloat16;
  }
  return at::kFloat;
}
void ok_listed(const Tensor& q, const Tensor& k, const Tensor& v, Precision precision) {
  const auto dtype = listed(precision);
  attend(q.to(dtype), k.to(dtype), v.to(dtype));
}
void ok_left_before(const Tensor& q, const Tensor& k, const Tensor& v, bool half) {
  const auto dtype = half ? at::kHalf : at::kFloat;
  if (!half) return;
  attend(q.to(dtype), k.to(dtype), v.to(dtype));
}
void ok_under_the_same_condition(const Tensor& q, const Tensor& k, const Tensor& v, bool half) {
  auto dtype = at::kFloat;
  if (half) dtype = at::kHalf;
  if (half) attend(q.to(dtype), k.to(dtype), v.to(dtype));
}
void bad_chosen_for_one(const Tensor& q, const Tensor& k, bool half) {
  const auto dtype = half ? at::kHalf : at::kFloat;
  const Tensor cast = q.to(dtype);  // expect: attention-mixed-dtypes
  attend(cast, k, k);
}

// Wide under a condition and narrow again under the same one.
struct Upcast {
  bool up;
  void ok_restored(Tensor q, const Tensor& v) const {
    const auto dtype = q.scalar_type();
    if (up) q = q.to(at::kFloat);
    q = q * 0.5;
    if (up) q = q.to(dtype);
    attend(q, v, v);
  }
};
void ok_restored_if_there(Tensor q, const Tensor& v, const c10::optional<Tensor>& scale) {
  if (scale.has_value()) q = q * scale->to(at::kFloat).view({1, -1});
  if (scale.has_value()) q = q.to(v.scalar_type());
  attend(q, v, v);
}
void ok_restored_by_name(Tensor q, const Tensor& v, const std::string& backend) {
  if (backend == "math") q = q.to(at::kFloat);
  if (backend != "math") attend(q, v, v);
}
void ok_restored_in_both(const Tensor& v) {
  for (const bool up : {false, true}) Upcast{up}.ok_restored(v, v);
}
void bad_restored_by_another(Tensor q, const Tensor& v, bool up, bool down) {
  if (up) q = q.to(at::kFloat);  // expect: attention-mixed-dtypes
  if (down) q = q.to(v.scalar_type());
  attend(q, v, v);
}
void bad_still_wide(Tensor q, const Tensor& v, bool up) {
  if (up) q = q.to(at::kFloat);  // expect: attention-mixed-dtypes
  if (up) q = q * 2;
  attend(q, v, v);
}
void bad_by_other_names(Tensor q, const Tensor& v, const std::string& backend, const std::string& mode) {
  if (backend == "math") q = q.to(at::kFloat);  // expect: attention-mixed-dtypes
  if (mode != "test") attend(q, v, v);
}
// A string that is written out decides; one that may have changed does not.
void ok_named(const Tensor& q, const Tensor& v) {
  attend(q.to(at::kFloat).to(parsed("fp16")), v.to(at::kHalf), v.to(at::kHalf));
}
void bad_named(const Tensor& q, const Tensor& v) {
  attend(q.to(parsed("fp32")), v, v);  // expect: attention-mixed-dtypes
}
void ok_named_by_parts(const Tensor& q, const Tensor& v) {
  std::string name = "fp";
  name += "16";
  attend(q.to(parsed(name)), v.to(at::kHalf), v.to(at::kHalf));
}
// What a choice says of all operands says nothing of the promotion before it.
void ok_promoted_and_configured(const Tensor& x, const std::string& name) {
  const auto dtype = parsed(name);
  const Tensor h = x.to(dtype);
  attend((h * torch::rand({64})).to(dtype), h, h);
}

// What no case filled is undefined, and has no dtype to give.
void ok_filled_by_switch(const Tensor& h, Precision precision) {
  Tensor q;
  switch (precision) {
    case Precision::kHalf:
      q = h;
      break;
    case Precision::kBrain:
      q = h * 2;
      break;
  }
  q = q * 3;
  attend(q, h, h);
}

// Questions.
void ok_type_equal(Tensor q, const Tensor& v) {
  q = q * torch::ones({64});
  if (!q.options().type_equal(v.options())) q = q.to(v.options());
  attend(q, v, v);
}
void bad_type_equal_of_another(Tensor q, Tensor k, const Tensor& v) {
  q = q * torch::ones({64});  // expect: attention-implicit-promotion
  if (!k.options().type_equal(v.options())) k = k.to(v.options());
  attend(q, k, v);
}
void ok_in_set(Tensor q, const Tensor& v) {
  static const std::set<at::ScalarType> kTaken{at::kHalf, at::kBFloat16};
  q = q * torch::ones({64});
  if (!kTaken.count(q.scalar_type())) q = q.to(v.dtype());
  attend(q, v, v);
}
void ok_type_meta(Tensor q, Tensor k, const Tensor& v) {
  q = q * torch::ones({64});
  if (q.dtype() == caffe2::TypeMeta::Make<float>()) q = q.to(v.dtype());
  k = k * torch::ones({64});
  if (k.dtype().Match<float>()) k = k.to(v.dtype());
  attend(q, k, v);
}
void bad_type_meta(Tensor q, const Tensor& v) {
  q = q * torch::ones({64});  // expect: attention-implicit-promotion
  if (q.dtype() == caffe2::TypeMeta::Make<double>()) q = q.to(v.dtype());
  attend(q, v, v);
}
void ok_by_pointers(Tensor q, Tensor k, const Tensor& v) {
  q = q * torch::ones({64});
  for (Tensor* each : {&q, &k}) {
    if (each->scalar_type() == at::kFloat) *each = each->to(v.scalar_type());
  }
  attend(q, k, v);
}
void ok_by_references(Tensor q, Tensor k, const Tensor& v) {
  q = q * torch::ones({64});
  for (Tensor& each : std::vector<std::reference_wrapper<Tensor>>{q, k}) each = each.to(at::kHalf);
  attend(q, k, v);
}

// How many dimensions a shape makes.
void bad_reshaped(Tensor q, const Tensor& v) {
  q = q.reshape({2, 4, 5});
  attend(q + at::full({1}, 2.0), v, v);                    // expect: attention-implicit-promotion
  const Tensor k = v * v.to(at::kFloat).reshape({2, -1});  // expect: attention-mixed-dtypes
  attend(v, k, v);
}
void bad_repeated(const float* table, const Tensor& v) {
  const Tensor rows = torch::from_blob(const_cast<float*>(table), {64}, torch::kFloat).repeat({2, 1});
  attend(v * rows, v, v);  // expect: attention-implicit-promotion
}
void ok_reshaped(const Tensor& q, const Tensor& v) {
  attend(q * torch::ones({1}).reshape({}), v * torch::ones({8}).sum().repeat(at::IntArrayRef{}), v);
}

// Checks whose message ends the program.
void ok_checked(Tensor q, const Tensor& k) {
  q = q * torch::ones({64});
  CHECK(q.scalar_type() == k.scalar_type()) << "q is not like k";
  attend(q, k, k);
}
void bad_checked(Tensor q, const Tensor& k) {
  q = q * torch::ones({64});  // expect: attention-implicit-promotion
  CHECK(q.dim() == k.dim()) << "q is not like k";
  attend(q, k, k);
}

// One dtype for all, of two that are half each.
void ok_half_or_brain(const Tensor& x, int version) {
  const auto dtype = version >= 80 ? at::kBFloat16 : at::kHalf;
  const Tensor h = x.to(dtype), w = at::ones({64}, dtype);
  attend(h * w, h, h);
  attend(h * h, h, h);
  attend(at::cat({h, h * w}), h, h);
}
void bad_half_and_brain(const Tensor& x, int version) {
  const auto dtype = version >= 80 ? at::kBFloat16 : at::kHalf;
  const Tensor h = x.to(dtype);
  const Tensor w = at::ones({64}, at::kHalf);
  attend(h * w, h, h);  // expect: attention-implicit-promotion
}

// One flag for all operands: what comes under it never meets what comes without.
Tensor ok_one_flag(const Tensor& x, bool exact) {
  const Tensor h = x.to(at::kHalf);
  const Tensor q = exact ? h.to(at::kFloat) : h;
  const Tensor k = exact ? h.to(at::kFloat) : h;
  return at::matmul(at::softmax(at::matmul(q, k.transpose(-2, -1)), -1), k);
}
Tensor ok_either_way(const Tensor& x, bool exact) {
  const Tensor h = x.to(at::kHalf);
  const Tensor q = exact ? h.to(at::kFloat) : h;
  const Tensor k = exact ? h * at::ones({8}, at::kFloat) : h;
  return at::matmul(at::softmax(at::matmul(q, k.transpose(-2, -1)), -1), k);
}
Tensor bad_without_the_flag(const Tensor& x, bool exact) {
  const Tensor h = x.to(at::kHalf);
  const Tensor q = exact ? h.to(at::kFloat) : h;
  const Tensor k = exact ? h.to(at::kFloat) : h;
  const Tensor scaled = k * at::ones({8}, at::kFloat);  // expect: attention-mixed-dtypes
  return at::matmul(at::softmax(at::matmul(q, scaled.transpose(-2, -1)), -1), scaled);
}
Tensor bad_with_the_flag(const Tensor& x, bool exact) {
  const Tensor h = x.to(at::kHalf);
  const Tensor q = exact ? h.to(at::kFloat) : h;  // expect: attention-mixed-dtypes
  const Tensor scaled = at::matmul(q, h.transpose(-2, -1));
  return at::matmul(at::softmax(scaled, -1), h);
}

// The same under the same conditions, in whichever pair it comes.
static std::tuple<Tensor, Tensor> expanded(const Tensor& k, const Tensor& v, bool grouped) {
  if (!grouped) return std::make_tuple(k, v);
  return std::make_tuple(k.repeat_interleave(2, -3), v.repeat_interleave(2, -3));
}
Tensor bad_in_either_pair(const Tensor& x, bool grouped) {
  const Tensor h = x.to(at::kHalf);
  const Tensor w = x.is_nested() ? h : h.to(at::kFloat) * 2;  // expect: attention-mixed-dtypes
  const auto [k, v] = expanded(w, h, grouped);
  return attend(h, k, v);
}
