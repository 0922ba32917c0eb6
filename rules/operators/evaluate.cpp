// Applies an operator's entry to concrete input dtypes: first what autocast does to the inputs, then the
// result rule.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "rules/operators/dtype_kinds.h"
#include "rules/operators/operators.h"
#include "rules/operators/steps.h"

namespace dtype_guard {
namespace {

using Inputs = std::vector<OperatorInput>;
using Outcome = PromotionResult;

class Evaluation {
 public:
  Evaluation(const Operator& op, Inputs inputs, std::optional<Dtype> dtype, const OperatorContext& context)
      : op_(op), inputs_(std::move(inputs)), dtype_(dtype), context_(context) {}

  // PyTorch registers no in-place or out= variant with autocast: those fall through to plain promotion.
  Outcome run(bool with_autocast) {
    const bool listed = !op_.in_place || op_.out_calls_operator;
    if (with_autocast && listed && context_.autocast != Dtype::kUndefined) return autocast();
    return result();
  }

 private:
  Outcome autocast() {
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

  // In argument order: once float32 was met everything becomes float32; before that the other half type
  // throws.
  Outcome promote_list() {
    Dtype widest = context_.autocast;
    for (const OperatorInput& input : inputs_) {
      if (!is_eligible(input) || input.argument == "out") continue;
      if (input.dtype == Dtype::kFloat32) widest = Dtype::kFloat32;
      if (widest != Dtype::kFloat32 && input.dtype != widest) return neither_wins(widest, input.dtype);
    }
    cast_eligible(widest);
    return result();
  }

  // An operator that autocast does not list decomposes, and an inner operator that it lists casts all the
  // same.
  Outcome composite() {
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
    const Outcome plain = result();
    const Dtype* dtype = std::get_if<Dtype>(&plain);
    if (dtype == nullptr || category(*dtype) != DtypeCategory::kFloating || *dtype == Dtype::kFloat64)
      return plain;
    return Dtype::kFloat32;
  }

  void cast_eligible(Dtype dtype) {
    for (OperatorInput& input : inputs_) {
      if (is_eligible(input) && input.argument != "out") input.dtype = dtype;
    }
  }

  Outcome result() {
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
    const Outcome computed = computed_dtype();
    if (!op_.in_place || !std::holds_alternative<Dtype>(computed)) return computed;
    return stored(std::get<Dtype>(computed));
  }

  // Other devices' kernels check parameters otherwise, or not at all.
  const OperatorInput* refused_parameter() const {
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

  Outcome stored(Dtype computed) {
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

  bool is_out() const { return op_.arguments.front() == "out"; }

  bool fits_out(Dtype computed, Dtype out) const {
    const OutRule rule = op_.exact_target ? OutRule::kExact : op_.out;
    return fits(rule, computed, first() != nullptr ? first()->dtype : computed, out);
  }

  // Without autocast inside, unless composite() found the operator in no list.
  Outcome stepped() const {
    OperatorContext inside = context_;
    if (!stepping_under_autocast_) inside.autocast = Dtype::kUndefined;
    return evaluate_steps(op_.steps, inputs_, inside);
  }

  Outcome computed_dtype() {
    if (!op_.steps.empty()) return stepped();
    switch (op_.result) {
      case ResultRule::kPromote:
        return promoted();
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
        return same();
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

  Dtype integer_to_float(Dtype dtype) const {
    return is_integral_or_bool(dtype) ? context_.default_dtype : dtype;
  }

  template <typename Map>
  Outcome mapped(Map map) {
    Outcome joined = promoted();
    if (Dtype* dtype = std::get_if<Dtype>(&joined)) *dtype = map(*dtype);
    return joined;
  }

  Inputs promoting() const {
    Inputs chosen;
    for (const OperatorInput& input : inputs_) {
      const auto& names = op_.promoting;
      if (std::find(names.begin(), names.end(), input.argument) != names.end()) chosen.push_back(input);
    }
    return chosen;
  }

  // The inputs whose dtype matters: the promoting ones, else the first.
  Inputs considered() const {
    if (!op_.promoting.empty() || first() == nullptr) return promoting();
    return {*first()};
  }

  Outcome refusal(Dtype dtype) const {
    return PromotionError{fmt::format("{} does not take {}", op_.name, name(dtype))};
  }

  // `refuses` speaks of what is computed in, which dtype= may have replaced.
  Outcome unless_refused(Dtype dtype) const {
    const Dtype computed = dtype_.value_or(dtype);
    return op_.refuses.contains(computed) ? refusal(computed) : Outcome(dtype);
  }

  bool quotient_of_integers() const {
    bool integers = !op_.quotient.empty();
    for (const std::string& argument : op_.quotient) {
      const OperatorInput* input = named(argument);
      integers = integers && input != nullptr && is_integral_or_bool(input->dtype);
    }
    return integers;
  }

  Outcome promoted() {
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

  Outcome same() {
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

  Outcome widened() {
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

  Outcome sum_like() {
    if (dtype_) return *dtype_;
    const Outcome like = like_first();
    if (!std::holds_alternative<Dtype>(like) || (op_.in_place && !is_out())) return like;
    return is_integral_or_bool(std::get<Dtype>(like)) ? Dtype::kInt64 : std::get<Dtype>(like);
  }

  Outcome cast() {
    if (dtype_) return *dtype_;
    if (op_.fixed != Dtype::kUndefined) return op_.fixed;
    if (const OperatorInput* other = named("other")) return other->dtype;
    return like_first();
  }

  Outcome like_first() {
    const OperatorInput* input = first();
    if (op_.numbers_default && input != nullptr && !is_tensor(*input)) {
      const auto tensor = std::find_if(inputs_.begin(), inputs_.end(), is_tensor);
      return unless_refused(tensor == inputs_.end() ? context_.default_dtype : tensor->dtype);
    }
    if (input != nullptr) return unless_refused(input->dtype);
    return PromotionError{fmt::format("{} was given no tensor", op_.name)};
  }

  const OperatorInput* named(std::string_view argument) const {
    for (const OperatorInput& input : inputs_) {
      if (input.argument == argument) return &input;
    }
    return nullptr;
  }

  // The tensor whose dtype the others follow: the first promoting argument, else the first argument given. An
  // out= tensor is a place to store, not an input.
  const OperatorInput* first() const {
    if (!op_.promoting.empty()) {
      if (const OperatorInput* input = named(op_.promoting.front())) return input;
    }
    for (const std::string& argument : op_.arguments) {
      if (argument == "out") continue;
      if (const OperatorInput* input = named(argument)) return input;
    }
    return nullptr;
  }

  const Operator& op_;
  Inputs inputs_;
  std::optional<Dtype> dtype_;
  const OperatorContext& context_;
  bool stepping_under_autocast_ = false;
};

}  // namespace

OperatorOutcome evaluate(const Operator& op, std::span<const OperatorInput> inputs,
                         std::optional<Dtype> dtype_argument, const OperatorContext& context) {
  const Inputs given(inputs.begin(), inputs.end());
  const Operator& entry = operator_at(op, context.torch_version);
  const Outcome with = Evaluation(entry, given, dtype_argument, context).run(true);
  OperatorOutcome outcome;
  if (const PromotionError* error = std::get_if<PromotionError>(&with)) {
    outcome.error = error->reason;
    return outcome;
  }
  outcome.dtype = std::get<Dtype>(with);
  if (context.autocast != Dtype::kUndefined) {
    outcome.by_autocast = widens(with, Evaluation(entry, given, dtype_argument, context).run(false));
  }
  return outcome;
}

}  // namespace dtype_guard
