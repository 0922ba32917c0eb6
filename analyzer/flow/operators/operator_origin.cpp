// Where the dtype of an operator's result comes from: which of its inputs decided it, and what the report
// says of that.
#include "analyzer/flow/ir/mnemonics.h"
#include "analyzer/flow/operators/contractions.h"
#include "analyzer/flow/operators/operator_result.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;

bool is_wider(Dtype wide, Dtype narrow) {
  return is_half(narrow) && wide != Dtype::kUndefined && bits(wide) > bits(narrow);
}
}  // namespace

// Which of the inputs made the result as wide as it is.
OperatorResults::Deciding OperatorResults::deciding(Dtype result) const {
  // A complex number is as wide as its parts: what widened these, or it, decided that.
  const bool of_parts = op_.result == ResultRule::kToReal || op_.result == ResultRule::kToComplex;
  Deciding out;
  bool equal_follows = false;  // cast to the dtype of another, which may be here too
  for (const ChosenInput* each : participants(op_, inputs_)) {
    const Alternative& input = *each->alternative;
    if (promotes(op_) && is_unknown(input)) {
      if (!out.open) out.open = each;
      continue;
    }
    if (input.kind != Kind::kTensor) continue;
    const Origin* origin = input.dtype == result || of_parts ? origins_.find(input.origin) : nullptr;
    const bool by_promotion = origin && origin->kind == Origin::Kind::kPromotion;
    if (by_promotion && is_half(origin->before) && !out.promoted) out.promoted = each;
    if (by_promotion && !is_half(origin->before) && !out.widened) out.widened = each;
    const bool is_cast = origin && origin->kind == Origin::Kind::kCast;
    const bool follows = is_cast && origin->of_another;
    if (is_cast && is_wider(result, origin->before) && !follows && !out.raised) out.raised = each;
    if (input.dtype == result && (!out.equal || (equal_follows && !follows))) {
      out.equal = each;
      equal_follows = follows;
    }
    if (is_wider(result, input.dtype) && is_floating(result) && !out.narrow) out.narrow = each;
  }
  return out;
}

Origin OperatorResults::origin(Dtype result, bool by_autocast, const ChosenInput* narrow,
                               const ChosenInput* wide) const {
  Origin out;
  out.function = site_.function;
  out.instruction = site_.instruction;
  out.op = shown_name(op_);
  out.after = result;
  out.by_autocast = by_autocast;
  const bool is_explicit = dtype_ || op_.result == ResultRule::kCast;
  if (is_cast()) {
    out.kind = Origin::Kind::kCast;
    const Alternative& from = *participants(op_, inputs_).front()->alternative;
    out.before = from.kind == Kind::kTensor && from.dtype != result ? from.dtype : Dtype::kUndefined;
    out.of_another = stated_.told != 0;
    out.of_unknown = is_unknown(from);
  } else if (narrow && !is_explicit && op_.result != ResultRule::kFactory) {
    out.kind = Origin::Kind::kPromotion;
    out.before = narrow->alternative->dtype;
    out.narrow = narrow_text(*narrow);
    out.wide = wide ? wide->alternative->trail : 0;
    out.by_setting = wide && (wide->alternative->assumed || is_of_object(*narrow));
  }
  return out;
}

// Whether it gives a tensor that it is handed in a dtype that it is told.
bool OperatorResults::is_cast() const {
  const bool is_explicit = dtype_ || op_.result == ResultRule::kCast;
  return is_explicit && !participants(op_, inputs_).empty() && op_.result != ResultRule::kFactory &&
         op_.result != ResultRule::kFactoryLike;
}

// Scores that are cast to what they were before a softmax are as wide as what had widened them then, and so
// is what a cast takes from a wider dtype, or an unknown one, to that from before: a rotation in float64.
bool OperatorResults::goes_back_to_wide(const Alternative& value) const {
  const Dtype from = is_cast() ? participants(op_, inputs_).front()->alternative->dtype : Dtype::kUndefined;
  const bool narrows =
      is_cast() && (from == Dtype::kUndefined || (is_floating(from) && bits(from) > bits(value.dtype)));
  const bool goes_back = narrows || (is_cast() && (value.lineage & kScores) != 0);
  const Step* told = goes_back ? origins_.step(stated_.told) : nullptr;
  const Origin* widened = told ? origins_.find(told->origin) : nullptr;
  return widened && widened->kind == Origin::Kind::kPromotion && widened->after == value.dtype &&
         widened->widens_half();
}

// A cast to the dtype that is there already. Who names it asks for it, whatever promoted the value before;
// the dtype of the tensor from before is what that was promoted to, and no request. Gives what the cast is to
// count as having begun with.
Dtype OperatorResults::state_again(Alternative& value, const Origin& first) const {
  const Step* told = origins_.step(stated_.told);
  if (!told && stated_.by == StatedBy::kCode && first.kind == Origin::Kind::kPromotion) {
    Origin asked = origin(value.dtype, false, nullptr, nullptr);
    asked.before = first.before;
    asked.over = value.origin;
    value.origin = origins_.origin(asked);
    value.trail = 0;
    return asked.before;
  }
  const bool was_wide = first.kind == Origin::Kind::kCast && goes_back_to_wide(value);
  if (was_wide || (told && first.over && told->origin == first.over)) {
    value.origin = told->origin;
    value.trail = stated_.told;
  }
  return value.dtype;
}

// What made an input: of an element of a list, that of its place where the call writes the list out.
const Instruction* OperatorResults::made(const ChosenInput& input) const {
  if (input.value != 0) return site_.info->definition(input.value);
  std::size_t place = 0, elements = 0;
  for (const ChosenInput& each : inputs_) {
    if (each.argument != input.argument) continue;
    if (&each == &input) place = elements;
    ++elements;
  }
  if (elements < 2) return nullptr;  // a parameter of a module
  const Instruction* list = nullptr;
  for (const Argument& given : site_.instruction->args) {
    const Instruction* each = site_.info->definition(given.value);
    if (!each || each->op != Op::kPack || each->args.size() != elements) continue;
    if (list) return nullptr;
    list = each;
  }
  return list ? site_.info->definition(list->args[place].value) : nullptr;
}

// A field of the object whose method runs, or a part or view of it: a parameter, which the setting alone
// makes half.
bool OperatorResults::is_of_object(const ChosenInput& input) const {
  constexpr int kMostViews = 8;
  const Instruction* each = site_.of_module && input.alternative->assumed ? made(input) : nullptr;
  for (int i = 0; i < kMostViews && each && each->op == Op::kOperator && !each->args.empty(); ++i) {
    const Operator* op = find_operator(each->name);
    const bool is_view =
        each->name == "subscript" || (op && op->result == ResultRule::kLikeFirst && op->promoting.empty());
    if (!is_view) return false;
    each = site_.info->definition(each->args.front().value);
  }
  if (!each || each->op != Op::kLoad || !each->place.last_field()) return false;
  const Instruction* object = site_.info->definition(each->place.base);
  const auto* number =
      object && object->op == Op::kParam ? std::get_if<std::int64_t>(&object->constant) : nullptr;
  return number && *number == 0;
}

std::string OperatorResults::narrow_text(const ChosenInput& narrow) const {
  const Instruction* definition = made(narrow);
  if (!definition) return {};
  return word_length(definition->text) == definition->text.size() ? definition->text : std::string();
}

}  // namespace dtype_guard::flow
