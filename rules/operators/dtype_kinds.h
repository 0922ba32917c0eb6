// How an operator's result relates to a dtype: its value type, the complex type over it, and what may be
// stored in it.
#pragma once

#include <fmt/format.h>

#include <span>

#include "rules/dtype/dtype.h"
#include "rules/dtype/promotion.h"
#include "rules/operators/operators.h"

namespace dtype_guard {

inline bool is_integral_or_bool(Dtype dtype) { return is_integral(dtype) || dtype == Dtype::kBool; }

inline bool is_tensor(const OperatorInput& input) { return input.rank != RankClass::kWrapped; }

// What autocast may cast: a tensor, floating, not double. float8 is not cast either.
inline bool is_eligible(const OperatorInput& input) {
  return is_tensor(input) && category(input.dtype) == DtypeCategory::kFloating &&
         input.dtype != Dtype::kFloat64;
}

inline Dtype real_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::kComplex32:
      return Dtype::kFloat16;
    case Dtype::kComplex64:
      return Dtype::kFloat32;
    case Dtype::kComplex128:
      return Dtype::kFloat64;
    default:
      return dtype;
  }
}

inline PromotionResult complex_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat16:
      return Dtype::kComplex32;
    case Dtype::kFloat32:
      return Dtype::kComplex64;
    case Dtype::kFloat64:
      return Dtype::kComplex128;
    default:
      if (is_complex(dtype)) return dtype;
      return PromotionError{fmt::format("there is no complex type over {}", name(dtype))};
  }
}

// PyTorch's canCast: an in-place or out= result must fit the category of the tensor that is written.
inline bool can_store(Dtype computed, Dtype target) {
  if (is_complex(computed) && !is_complex(target)) return false;
  if (is_floating(computed) && is_integral_or_bool(target)) return false;
  return computed == Dtype::kBool || target != Dtype::kBool;
}

// Whether a tensor of dtype `out` is taken as out= where `computed` is the result's and `input` the first
// input's.
inline bool fits(OutRule rule, Dtype computed, Dtype input, Dtype out) {
  switch (rule) {
    case OutRule::kExact:
    case OutRule::kExactOfNumbers:
      return computed == out;
    case OutRule::kAny:
    case OutRule::kExactAtTimes:
      return true;
    case OutRule::kFitsKind:
      return is_complex(computed) == is_complex(out) && can_store(computed, out);
    case OutRule::kFloating:
      return is_floating(out) || is_complex(out);
    case OutRule::kMagnitude:
      return is_complex(input) ? is_floating(out) || out == input : computed == out;
    case OutRule::kExactOfReal:
      return is_complex(input) ? can_store(computed, out) : computed == out;
    case OutRule::kFits:
      break;
  }
  return can_store(computed, out);
}

// PyTorch's alpha_check: whether a number of dtype `scale` may scale a result of dtype `computed`.
inline bool may_scale(Dtype scale, Dtype computed) {
  if (is_complex(scale)) return is_complex(computed);
  if (is_floating(scale)) return !is_integral_or_bool(computed);
  return scale != Dtype::kBool || computed == Dtype::kBool;
}

inline Dtype bool_to_long(Dtype dtype) { return dtype == Dtype::kBool ? Dtype::kInt64 : dtype; }
inline Dtype to_bool(Dtype) { return Dtype::kBool; }

// What numbers make a tensor of: integers stay int64 and bools bool (int64 where `bool_counts`); one floating
// number makes it the default dtype.
inline PromotionResult dtype_of_values(std::span<const OperatorInput> values, bool bool_counts,
                                       Dtype default_dtype) {
  Dtype found = Dtype::kUndefined;
  for (const OperatorInput& value : values) {
    if (is_complex(value.dtype)) return complex_of(default_dtype);
    if (is_floating(value.dtype) || is_floating(found)) {
      found = default_dtype;
    } else if (bool_counts) {
      found = Dtype::kInt64;
    } else if (value.dtype != Dtype::kBool || found == Dtype::kUndefined) {
      found = value.dtype == Dtype::kBool ? Dtype::kBool : Dtype::kInt64;
    }
  }
  return found == Dtype::kUndefined ? default_dtype : found;
}

inline bool widens(const PromotionResult& with, const PromotionResult& without) {
  const Dtype* after = std::get_if<Dtype>(&with);
  const Dtype* before = std::get_if<Dtype>(&without);
  return after != nullptr && before != nullptr && is_floating(*after) && bits(*after) > bits(*before);
}

inline PromotionError not_the_same(const Operator& op, const OperatorInput& a, const OperatorInput& b) {
  return {fmt::format("{} expects {} and {} to have the same dtype, but got {} and {}", op.name, a.argument,
                      b.argument, name(a.dtype), name(b.dtype))};
}

inline PromotionError neither_wins(Dtype autocast, Dtype met) {
  return {
      fmt::format("autocast to {} meets {}: it promotes neither to the other", name(autocast), name(met))};
}

}  // namespace dtype_guard
