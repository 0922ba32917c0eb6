// What autocast does to an operator's inputs before the result rule sees them.
#include <fmt/format.h>

#include <algorithm>

#include "rules/operators/dtype_kinds.h"
#include "rules/operators/evaluation.h"

namespace dtype_guard {

Evaluation::Outcome Evaluation::autocast() {
  const DtypeSet* kernel = autocast_kernel(op_.name, context_.device, context_.torch_version);
  if (kernel != nullptr) return whole_kernel(*kernel);
  std::string_view listed = op_.name;
  if (op_.out_calls_operator) listed.remove_suffix(std::string_view("_out").size());
  listed = listed.substr(0, listed.find('.'));  // "einsum.mul" is a kind of einsum
  switch (autocast_policy(listed, context_.device, context_.torch_version)) {
    case AutocastPolicy::kNone:
      return composite();
    case AutocastPolicy::kLowerPrecision:
      cast_eligible(context_.autocast);
      return result();
    case AutocastPolicy::kFloat32:
      cast_eligible(Dtype::kFloat32);
      return result();
    case AutocastPolicy::kFloat32SetDtype:
      if (first() != nullptr && is_eligible(*first()) && !dtype_) dtype_ = Dtype::kFloat32;
      return result();
    case AutocastPolicy::kPromote:
      return promote_list();
    case AutocastPolicy::kBanned:
      return PromotionError{fmt::format("{} is unsafe to autocast", op_.name)};
  }
  return result();
}

// In the order that the operator takes them: once float32 was met everything becomes float32; before that the
// other half type throws.
Evaluation::Outcome Evaluation::promote_list() {
  Dtype widest = context_.autocast;
  const std::vector<std::string>& order = op_.promoting;
  const auto place = [&](const OperatorInput& input) {
    return std::find(order.begin(), order.end(), input.argument) - order.begin();
  };
  std::stable_sort(inputs_.begin(), inputs_.end(),
                   [&](const auto& a, const auto& b) { return place(a) < place(b); });
  for (const OperatorInput& input : inputs_) {
    if (!is_eligible(input) || input.argument == "out") continue;
    if (input.dtype == Dtype::kFloat32) widest = Dtype::kFloat32;
    if (widest != Dtype::kFloat32 && input.dtype != widest) return neither_wins(widest, input.dtype);
  }
  cast_eligible(widest);
  return result();
}

// Beside an input of the other half type another kernel may run.
Evaluation::Outcome Evaluation::whole_kernel(DtypeSet certain) {
  const Inputs parts = promoting();
  const bool other_half = std::any_of(parts.begin(), parts.end(), [this](const OperatorInput& input) {
    return is_half(input.dtype) && input.dtype != context_.autocast;
  });
  if (!certain.contains(context_.autocast) || other_half) return Dtype::kUndefined;
  cast_eligible(context_.autocast);
  return result();
}

// An operator that autocast does not list decomposes, and an inner operator that it lists casts all the
// same.
Evaluation::Outcome Evaluation::composite() {
  if (!op_.steps.empty()) {
    stepping_under_autocast_ = true;
    return result();
  }
  AutocastPolicy policy = AutocastPolicy::kNone;
  const Operator* inner = &op_;
  while (policy == AutocastPolicy::kNone && !inner->composed_of.empty()) {
    inner = find_operator(inner->composed_of);
    if (inner == nullptr) break;
    policy = autocast_policy(inner->name, context_.device, context_.torch_version);
  }
  if (policy == AutocastPolicy::kNone) return result();
  if (policy == AutocastPolicy::kPromote) {
    const Outcome checked = op_.checks_first ? result() : Outcome(Dtype::kUndefined);
    return std::holds_alternative<Dtype>(checked) ? promote_list() : checked;
  }
  if (policy == AutocastPolicy::kLowerPrecision) {
    Outcome checked = Dtype::kUndefined;
    if (op_.checks_first) checked = is_out() ? computed_dtype() : result();
    if (!std::holds_alternative<Dtype>(checked)) return checked;
    const bool cast = first() != nullptr && is_eligible(*first());
    if (op_.checks_first && !is_out()) return cast ? Outcome(context_.autocast) : checked;
    cast_eligible(context_.autocast);
    return result();
  }
  const bool refused = first() != nullptr && op_.refuses.contains(first()->dtype) && is_eligible(*first());
  if (policy == AutocastPolicy::kFloat32 && (refused || dtype_)) cast_eligible(Dtype::kFloat32);
  const Outcome plain = result();
  if (dtype_) return plain;
  const Dtype* dtype = std::get_if<Dtype>(&plain);
  if (dtype == nullptr || category(*dtype) != DtypeCategory::kFloating || *dtype == Dtype::kFloat64)
    return plain;
  return Dtype::kFloat32;
}

void Evaluation::cast_eligible(Dtype dtype) {
  for (OperatorInput& input : inputs_) {
    if (is_eligible(input) && input.argument != "out") input.dtype = dtype;
  }
}

}  // namespace dtype_guard
