// Applies an operator's entry to concrete input dtypes: the result rules.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "rules/operators/dtype_kinds.h"
#include "rules/operators/evaluation.h"
#include "rules/operators/library_operators.h"
#include "rules/operators/steps.h"

namespace dtype_guard {

Evaluation::Outcome Evaluation::result() {
  for (const OperatorInput& input : considered()) {
    if (op_.refuses_operand.contains(input.dtype)) return refusal(input.dtype);
  }
  for (const auto& [argument, dtypes] : op_.refuses_argument) {
    const OperatorInput* input = named(argument);
    const Dtype given = argument == "dtype" ? dtype_.value_or(Dtype::kUndefined)
                        : input != nullptr  ? input->dtype
                                            : Dtype::kUndefined;
    if (dtypes.contains(given)) return refusal(given);
  }
  if (quotient_of_integers()) return PromotionError{fmt::format("{} does not divide integers", op_.name)};
  if (const OperatorInput* refused = refused_parameter()) {
    return PromotionError{
        fmt::format("{} does not take a {} of {}", op_.name, refused->argument, name(refused->dtype))};
  }
  may_throw_ = mixes_loosely();
  const Outcome computed = computed_dtype();
  if (!op_.in_place || !std::holds_alternative<Dtype>(computed)) return computed;
  return stored(std::get<Dtype>(computed));
}

bool Evaluation::mixes_loosely() const {
  return std::any_of(op_.loose.begin(), op_.loose.end(), [this](const std::string& argument) {
    const OperatorInput* input = named(argument);
    return input != nullptr && first() != nullptr && is_tensor(*input) && input->dtype != first()->dtype;
  });
}

// Other devices' kernels check parameters otherwise, or not at all.
const OperatorInput* Evaluation::refused_parameter() const {
  if (first() == nullptr) return nullptr;
  const Dtype like = first()->dtype;
  const OperatorInput* mask = op_.mask.empty() ? nullptr : named(op_.mask);
  if (mask != nullptr && mask->dtype != like && mask->dtype != Dtype::kBool &&
      mask->dtype != Dtype::kFloat32) {
    return mask;
  }
  std::optional<Dtype> common;
  if (context_.device != "cpu") return nullptr;
  for (const std::string& argument : op_.parameters) {
    const OperatorInput* parameter = named(argument);
    if (parameter == nullptr) continue;
    if (parameter->dtype != common.value_or(parameter->dtype)) return parameter;
    common = parameter->dtype;
    if (*common != like && (!is_half(like) || *common != Dtype::kFloat32)) return parameter;
  }
  return nullptr;
}

Evaluation::Outcome Evaluation::stored(Dtype computed) {
  const OperatorInput* target = named(op_.arguments.front());
  if (target == nullptr) return computed;
  if (is_out()) {
    if (fits_out(computed, target->dtype)) return target->dtype;
    return PromotionError{fmt::format("{} gives {} and does not write it to an out= tensor of {}", op_.name,
                                      name(computed), name(target->dtype))};
  }
  if (op_.result == ResultRule::kLikeFirst || op_.result == ResultRule::kBool) return target->dtype;
  if (op_.exact_target ? computed != target->dtype : !can_store(computed, target->dtype)) {
    return PromotionError{fmt::format("result type {} can't be cast to the desired output type {}",
                                      aten_name(computed), aten_name(target->dtype))};
  }
  return target->dtype;
}

bool Evaluation::fits_out(Dtype computed, Dtype out) {
  OutRule rule = op_.exact_target ? OutRule::kExact : op_.out;
  if (rule == OutRule::kExactAtTimes && computed != out) may_throw_ = true;
  if (rule == OutRule::kExactOfNumbers) {
    const bool tensors = std::count_if(inputs_.begin(), inputs_.end(), is_tensor) > 2;  // the input and out
    rule = tensors ? OutRule::kFits : OutRule::kExact;
  }
  return fits(rule, computed, first() != nullptr ? first()->dtype : computed, out);
}

// Without autocast inside, unless composite() found the operator in no list.
Evaluation::Outcome Evaluation::stepped() const {
  OperatorContext inside = context_;
  if (!stepping_under_autocast_) inside.autocast = Dtype::kUndefined;
  return evaluate_steps(op_.steps, inputs_, inside);
}

Evaluation::Outcome Evaluation::computed_dtype() {
  if (!op_.steps.empty()) return stepped();
  switch (op_.result) {
    case ResultRule::kPromote:
      return dtype_ ? Outcome(*dtype_) : promoted();
    case ResultRule::kPromoteIntToFloat:
      return mapped([this](Dtype d) { return integer_to_float(d); });
    case ResultRule::kPromoteToReal:
    case ResultRule::kToReal:
      return op_.dtype_widens && dtype_ ? widened()
                                        : mapped([this](Dtype d) { return dtype_.value_or(real_of(d)); });
    case ResultRule::kToComplex: {
      const Outcome joined = promoted();
      return std::holds_alternative<Dtype>(joined) ? complex_of(std::get<Dtype>(joined)) : joined;
    }
    case ResultRule::kPromoteBoolToLong: {
      const Inputs parts = promoting();
      const bool number =
          std::any_of(parts.begin(), parts.end(), [](const auto& each) { return !is_tensor(each); });
      return number ? promoted() : mapped(bool_to_long);
    }
    case ResultRule::kPromoteToRealFloat:
      return mapped([this](Dtype d) { return real_of(integer_to_float(d)); });
    case ResultRule::kPromoteToDouble:
      return mapped([](Dtype d) { return is_complex(d) ? Dtype::kComplex128 : Dtype::kFloat64; });
    case ResultRule::kPromoteToComplex: {
      const Outcome joined = mapped([this](Dtype d) { return integer_to_float(dtype_.value_or(d)); });
      return std::holds_alternative<Dtype>(joined) ? complex_of(std::get<Dtype>(joined)) : joined;
    }
    case ResultRule::kBool:
      return promoting().empty() ? Outcome(Dtype::kBool) : mapped(to_bool);
    case ResultRule::kBoolOrByte:
      return mapped([](Dtype d) { return d == Dtype::kUInt8 ? d : Dtype::kBool; });
    case ResultRule::kRequireSame:
      return dtype_ ? stated_product() : same();
    case ResultRule::kSumLike:
      return sum_like();
    case ResultRule::kCast:
      return cast();
    case ResultRule::kFactory:
      return dtype_.value_or(context_.default_dtype);
    case ResultRule::kFactoryFromValue:
      return dtype_ ? *dtype_ : dtype_of_values(promoting(), op_.bool_counts, context_.default_dtype);
    case ResultRule::kFixed: {
      const Outcome like =
          op_.refuses.empty() || first() == nullptr ? unless_refused(op_.fixed) : like_first();
      return std::holds_alternative<Dtype>(like) ? Outcome(dtype_.value_or(op_.fixed)) : like;
    }
    case ResultRule::kLikeFirst:
    case ResultRule::kFactoryLike:
      return dtype_ ? unless_refused(*dtype_) : like_first();
    case ResultRule::kDescriptor:
      return like_first();
  }
  return like_first();
}

Dtype Evaluation::integer_to_float(Dtype dtype) const {
  return is_integral_or_bool(dtype) ? context_.default_dtype : dtype;
}

template <typename Map>
Evaluation::Outcome Evaluation::mapped(Map map) {
  Outcome joined = promoted();
  if (Dtype* dtype = std::get_if<Dtype>(&joined)) *dtype = map(*dtype);
  return joined;
}

Evaluation::Inputs Evaluation::promoting() const {
  Inputs chosen;
  for (const OperatorInput& input : inputs_) {
    const auto& names = op_.promoting;
    if (std::find(names.begin(), names.end(), input.argument) != names.end()) chosen.push_back(input);
  }
  return chosen;
}

// The inputs whose dtype matters: the promoting ones, else the first.
Evaluation::Inputs Evaluation::considered() const {
  if (!op_.promoting.empty() || first() == nullptr) return promoting();
  return {*first()};
}

Evaluation::Outcome Evaluation::refusal(Dtype dtype) const {
  return PromotionError{fmt::format("{} does not take {}", op_.name, name(dtype))};
}

// `refuses` speaks of what is computed in, which dtype= may have replaced.
Evaluation::Outcome Evaluation::unless_refused(Dtype dtype) const {
  const Dtype computed = dtype_.value_or(dtype);
  return op_.refuses.contains(computed) ? refusal(computed) : Outcome(dtype);
}

bool Evaluation::quotient_of_integers() const {
  bool integers = !op_.quotient.empty();
  for (const std::string& argument : op_.quotient) {
    const OperatorInput* input = named(argument);
    integers = integers && input != nullptr && is_integral_or_bool(input->dtype);
  }
  return integers;
}

Evaluation::Outcome Evaluation::promoted() {
  if (op_.requires_same) return same();
  std::vector<ResultTypeOperand> operands;
  for (const OperatorInput& input : promoting())
    operands.push_back({input.dtype, op_.dimensioned && is_tensor(input) ? RankClass::kDim : input.rank});
  Outcome joined = result_type(operands, context_.default_dtype);
  if (joined == Outcome(Dtype::kUndefined)) {
    return PromotionError{fmt::format("{} has no promotion for these operands", op_.name)};
  }
  if (!std::holds_alternative<Dtype>(joined)) return joined;
  for (const std::string& argument : op_.scales) {
    const OperatorInput* scale = named(argument);
    if (scale != nullptr && !may_scale(scale->dtype, std::get<Dtype>(joined))) return refusal(scale->dtype);
  }
  return unless_refused(std::get<Dtype>(joined));
}

Evaluation::Outcome Evaluation::same() {
  const Inputs chosen = promoting();
  if (chosen.empty()) return PromotionError{fmt::format("{} was given no tensor", op_.name)};
  std::optional<ResultTypeOperand> free;
  if (op_.unchecked.contains(chosen.front().dtype)) return chosen.front().dtype;
  for (const OperatorInput& input : chosen) {
    if (input.dtype == chosen.front().dtype || !is_tensor(input)) continue;
    if (input.argument == op_.free_scalar && input.rank == RankClass::kZeroDim) {
      free = {input.dtype, input.rank};
      continue;
    }
    return not_the_same(op_, chosen.front(), input);
  }
  const ResultTypeOperand own = {chosen.front().dtype, chosen.front().rank};
  return free ? result_type(std::array{own, *free}, context_.default_dtype) : unless_refused(own.dtype);
}

// mm(a, b, out_dtype): the matrices have one dtype, and the result that one or, of half types, float32.
Evaluation::Outcome Evaluation::stated_product() const {
  const Inputs chosen = promoting();
  if (chosen.size() < 2) return PromotionError{fmt::format("{} was given no tensor", op_.name)};
  const OperatorInput& left = chosen[chosen.size() - 2];
  const OperatorInput& right = chosen.back();
  if (left.dtype != right.dtype) return not_the_same(op_, left, right);
  if (left.dtype == Dtype::kBool) return refusal(left.dtype);
  if (*dtype_ == left.dtype || (is_half(left.dtype) && *dtype_ == Dtype::kFloat32)) return *dtype_;
  return PromotionError{fmt::format("{} of {} does not give {}", op_.name, name(left.dtype), name(*dtype_))};
}

Evaluation::Outcome Evaluation::widened() {
  const Outcome joined = mapped([](Dtype d) { return d; });
  if (!std::holds_alternative<Dtype>(joined)) return joined;
  const Outcome both = promote_types(std::get<Dtype>(joined), *dtype_);
  if (op_.refuses.contains(*dtype_)) return refusal(*dtype_);
  if (op_.refuses.contains(first()->dtype)) return refusal(first()->dtype);
  const bool same_kind = is_complex(*dtype_) == is_complex(first()->dtype);
  if (same_kind && both == Outcome(*dtype_)) return real_of(*dtype_);
  return PromotionError{
      fmt::format("{} does not narrow {} to {}", op_.name, name(first()->dtype), name(*dtype_))};
}

Evaluation::Outcome Evaluation::sum_like() {
  if (dtype_) return *dtype_;
  const Outcome like = like_first();
  if (!std::holds_alternative<Dtype>(like) || (op_.in_place && !is_out())) return like;
  return is_integral_or_bool(std::get<Dtype>(like)) ? Dtype::kInt64 : std::get<Dtype>(like);
}

Evaluation::Outcome Evaluation::cast() {
  if (dtype_) return *dtype_;
  if (op_.fixed != Dtype::kUndefined) return op_.fixed;
  if (const OperatorInput* other = named("other")) return other->dtype;
  return like_first();
}

Evaluation::Outcome Evaluation::like_first() {
  const OperatorInput* input = first();
  if (op_.numbers_default && input != nullptr && !is_tensor(*input)) {
    const auto tensor = std::find_if(inputs_.begin(), inputs_.end(), is_tensor);
    return unless_refused(tensor == inputs_.end() ? context_.default_dtype : tensor->dtype);
  }
  if (input != nullptr) return unless_refused(input->dtype);
  if (takes_one_dtype(op_)) return op_.fixed;
  return PromotionError{fmt::format("{} was given no tensor", op_.name)};
}

const OperatorInput* Evaluation::named(std::string_view argument) const {
  for (const OperatorInput& input : inputs_) {
    if (input.argument == argument) return &input;
  }
  return nullptr;
}

// The tensor whose dtype the others follow: the first promoting argument, else the first argument given. An
// out= tensor is a place to store, not an input.
const OperatorInput* Evaluation::first() const {
  if (!op_.promoting.empty()) {
    if (const OperatorInput* input = named(op_.promoting.front())) return input;
  }
  for (const std::string& argument : op_.arguments) {
    if (argument == "out") continue;
    if (const OperatorInput* input = named(argument)) return input;
  }
  return nullptr;
}

OperatorOutcome evaluate(const Operator& op, std::span<const OperatorInput> inputs,
                         std::optional<Dtype> dtype_argument, const OperatorContext& context) {
  const Evaluation::Inputs given(inputs.begin(), inputs.end());
  const Operator& entry = operator_at(op, context.torch_version);
  Evaluation evaluation(entry, given, dtype_argument, context);
  const PromotionResult with = evaluation.run(true);
  OperatorOutcome outcome;
  if (const PromotionError* error = std::get_if<PromotionError>(&with)) {
    outcome.error = error->reason;
    return outcome;
  }
  outcome.dtype = std::get<Dtype>(with);
  outcome.may_throw = evaluation.may_throw();
  if (context.autocast != Dtype::kUndefined) {
    outcome.by_autocast = widens(with, Evaluation(entry, given, dtype_argument, context).run(false));
  }
  return outcome;
}

}  // namespace dtype_guard
