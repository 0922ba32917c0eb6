// An operator's entry applied to one call's dtypes: first what autocast does to the inputs, then the result
// rule.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "rules/operators/operators.h"

namespace dtype_guard {

class Evaluation {
 public:
  using Inputs = std::vector<OperatorInput>;
  using Outcome = PromotionResult;

  Evaluation(const Operator& op, Inputs inputs, std::optional<Dtype> dtype, const OperatorContext& context)
      : op_(op), inputs_(std::move(inputs)), dtype_(dtype), context_(context) {}

  // PyTorch registers no in-place or out= variant with autocast: those fall through to plain promotion. So do
  // products with out_dtype=.
  Outcome run(bool with_autocast) {
    const bool states_product = dtype_ && op_.result == ResultRule::kRequireSame;
    const bool listed = (!op_.in_place || op_.out_calls_operator) && !states_product;
    if (with_autocast && listed && context_.autocast != Dtype::kUndefined) return autocast();
    return result();
  }

  bool may_throw() const { return may_throw_; }  // of the last run

 private:
  Outcome autocast();
  Outcome promote_list();
  Outcome whole_kernel(DtypeSet certain);
  Outcome composite();
  void cast_eligible(Dtype dtype);
  Outcome result();
  const OperatorInput* refused_parameter() const;
  Outcome stored(Dtype computed);
  bool is_out() const { return op_.arguments.front() == "out"; }
  bool fits_out(Dtype computed, Dtype out);
  Outcome stepped() const;
  Outcome computed_dtype();
  Dtype integer_to_float(Dtype dtype) const;
  template <typename Map>
  Outcome mapped(Map map);
  Inputs promoting() const;
  Inputs considered() const;
  Outcome refusal(Dtype dtype) const;
  Outcome unless_refused(Dtype dtype) const;
  bool quotient_of_integers() const;
  Outcome promoted();
  Outcome same();
  Outcome stated_product() const;
  Outcome widened();
  Outcome sum_like();
  Outcome cast();
  Outcome like_first();
  const OperatorInput* named(std::string_view argument) const;
  const OperatorInput* first() const;
  bool mixes_loosely() const;

  const Operator& op_;
  Inputs inputs_;
  std::optional<Dtype> dtype_;
  const OperatorContext& context_;
  bool stepping_under_autocast_ = false;
  bool may_throw_ = false;
};

}  // namespace dtype_guard
