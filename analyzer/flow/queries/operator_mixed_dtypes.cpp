// A layer refuses an input that is not of its weight's dtype. The weight's is the setting's, so the input's
// counts where the code made it: what was widened without being asked to, or by attention and rotation that
// compute in float32 and do not cast back. A model that is run under autocast alone takes what was never half
// (the sines of a timestep), and so does a layer that others keep wide: that counts where the user named the
// setting, and is possible otherwise. Who casts what goes into a layer means that layer to be wide. What a
// buffer widened that the setting leaves in float32 proves nothing: loaders convert those that are saved.
#include <algorithm>

#include "analyzer/flow/operators/contractions.h"
#include "analyzer/flow/queries/query.h"
#include "rules/operators/operators.h"

namespace dtype_guard::flow {

bool fits_operator_mixed_dtypes(const Defect& defect) {
  const SinkPlace place = defect.record->place;
  return defect.breaks_contract() && (place == SinkPlace::kLayer || place == SinkPlace::kOtherStore);
}

// What a half value met was cast to float32, from no known dtype: as where an input is cast, wide on purpose.
static bool met_what_was_cast(const Origin& promotion, const Origins& origins) {
  const Step* wide = origins.step(promotion.wide);
  const Origin* made = wide ? origins.find(wide->origin) : nullptr;
  return made && made->kind == Origin::Kind::kCast && made->of_unknown && !made->of_another;
}

// Cast for the layer. What is cast and then computed with (positions, into sines) was not, unless it is cast
// once more.
static bool is_asked_for(const Defect& defect) {
  const Origin* origin = defect.origin;
  bool is_cast = origin && origin->kind == Origin::Kind::kCast && !is_integral(origin->before);
  if (is_cast && is_half(origin->before)) return true;
  for (const Step* each : defect.origins->path(defect.alternative.trail)) {
    const Operator* op =
        origin && each->instruction == origin->instruction ? nullptr : find_operator(each->op);
    if (!op) continue;
    const bool computes = op->result == ResultRule::kPromote || op->result == ResultRule::kPromoteIntToFloat;
    is_cast = op->result == ResultRule::kCast || (is_cast && !computes);
  }
  return is_cast;
}

// What only a buffer of the setting widened is the setting's own doing.
bool may_be_refused(const Defect& defect) {
  const Origin* origin = defect.origin;
  const bool is_store = defect.record->place == SinkPlace::kOtherStore;
  const bool is_input =
      defect.record->place == SinkPlace::kLayer && defect.arrived == &defect.record->operands.front();
  return origin && (is_store || is_input) && is_floating(defect.alternative.dtype) &&
         !is_half(defect.alternative.dtype) &&
         !(origin->kind == Origin::Kind::kPromotion && origin->by_setting);
}

bool is_never_half(const Defect& defect) {
  return may_be_refused(defect) && !defect.alternative.assumed && !is_asked_for(defect) &&
         !is_refused_unasked(defect);
}

bool is_refused_unasked(const Defect& defect) {
  const Origin* origin = defect.origin;
  const bool may_be_asked_for =
      defect.record->place == SinkPlace::kLayer && defect.arrived != &defect.record->operands.front();
  if (!origin || may_be_asked_for || is_half(defect.alternative.dtype)) return false;
  if (origin->kind == Origin::Kind::kPromotion && origin->by_setting) return false;
  if (is_of_attention_code(defect.alternative.lineage)) return true;
  if (origin->kind == Origin::Kind::kPromotion && met_what_was_cast(*origin, *defect.origins)) return false;
  if (origin->kind == Origin::Kind::kPromotion && origin->widens_half()) return true;
  if (defect.record->must_suit) return !defect.alternative.assumed;
  // Positions that a few layers make a bias of: what these give must suit the scores, so they are not kept
  // wide.
  if (defect.record->makes_bias && !origin->widens_half()) return !defect.alternative.assumed;
  const std::vector<const Step*> path = defect.origins->path(defect.alternative.trail);
  return std::any_of(path.begin(), path.end(), [&](const Step* each) {
    const bool widens = is_half(each->before) && is_floating(each->after) && !is_half(each->after);
    return widens && each->instruction != origin->instruction;
  });
}

}  // namespace dtype_guard::flow
