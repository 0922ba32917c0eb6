#include "analyzer/flow/operators/operator_result.h"

#include <algorithm>

#include "analyzer/flow/operators/contractions.h"
#include "analyzer/flow/operators/widened.h"
#include "rules/operators/library_names.h"
#include "rules/operators/library_operators.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
constexpr std::size_t kMaxAmbiguous = 4;

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}
// Beside a float32 tensor with dimensions, a wider one, or their complex counterparts, whatever else takes
// part makes the result no narrower.
bool is_at_least_float32(const std::vector<const ChosenInput*>& parts) {
  return std::any_of(parts.begin(), parts.end(), [](const ChosenInput* each) {
    const Alternative& one = *each->alternative;
    return one.kind == Kind::kTensor && !one.rank.wrapped && !one.rank.may_be_zero() &&
           (one.dtype == Dtype::kFloat32 || one.dtype == Dtype::kFloat64 || one.dtype == Dtype::kComplex64 ||
            one.dtype == Dtype::kComplex128);
  });
}
}  // namespace

OperatorResults::OperatorResults(const Operator& op, OperatorSite site,
                                 const std::vector<ChosenInput>& inputs, std::optional<Dtype> dtype_argument,
                                 Statement stated, Rank rank, Origins& origins, SymbolSets& symbols)
    : op_(op),
      site_(site),
      inputs_(inputs),
      dtype_(dtype_argument),
      stated_(stated),
      rank_(rank),
      origins_(origins),
      symbols_(symbols) {
  for (const ChosenInput& input : inputs_) {
    const Alternative& each = *input.alternative;
    const bool unclear = each.kind == Kind::kTensor && !each.rank.wrapped && each.rank.may_be_zero() &&
                         each.rank.may_be_dimensioned();
    const bool known_with_another =
        std::any_of(ambiguous_.begin(), ambiguous_.end(),
                    [&](const ChosenInput* other) { return other->alternative->rank.is_tied_to(each.rank); });
    if (unclear && !known_with_another && contains(op.promoting, input.argument))
      ambiguous_.push_back(&input);
  }
  if (ambiguous_.size() > kMaxAmbiguous) ambiguous_.resize(kMaxAmbiguous);
}

bool OperatorResults::rests_on_unknown() const {
  if (dtype_) return *dtype_ == Dtype::kUndefined;
  if (takes_one_dtype(op_)) return false;
  switch (op_.result) {
    case ResultRule::kBool:
    case ResultRule::kFixed:
    case ResultRule::kFactory:
    case ResultRule::kFactoryFromValue:
      return false;
    case ResultRule::kCast:
      if (op_.fixed != Dtype::kUndefined) return false;
      [[fallthrough]];
    case ResultRule::kLikeFirst:
      if (!op_.promoting.empty()) {  // the first of these: an embedding's weight, not its indices
        const auto parts = participants(op_, inputs_);
        return parts.empty() || is_unknown(*parts.front()->alternative);
      }
      [[fallthrough]];
    case ResultRule::kSumLike:
    case ResultRule::kFactoryLike:
    case ResultRule::kDescriptor:
      return inputs_.empty() || is_unknown(*inputs_.front().alternative);
    case ResultRule::kRequireSame: {
      // Equal or it throws, so one known operand tells.
      const auto parts = participants(op_, inputs_);
      return std::none_of(parts.begin(), parts.end(), [](const ChosenInput* each) {
        return each->alternative->kind == Kind::kTensor && !is_unknown(*each->alternative);
      });
    }
    default: {
      const auto parts = participants(op_, inputs_);
      if (promotes(op_) && is_at_least_float32(parts)) return false;
      return std::any_of(parts.begin(), parts.end(),
                         [](const ChosenInput* each) { return is_unknown(*each->alternative); });
    }
  }
}

// Whether autocast casts the operands to the widest of them, and one that is not known may be that: then one
// that is known does not tell.
bool OperatorResults::may_be_widened(std::string_view device, std::string_view torch_version) const {
  const auto parts = participants(op_, inputs_);
  const auto has = [&](const auto& what) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](const ChosenInput* each) { return what(*each->alternative); });
  };
  return op_.result == ResultRule::kRequireSame && has(is_unknown) &&
         autocast_policy(op_.name, device, torch_version) == AutocastPolicy::kPromote &&
         !has([](const Alternative& each) { return is_floating(each.dtype) && !is_half(each.dtype); });
}

// Equal or it throws: where there is no doubt of one operand, there is none of what comes out.
const ChosenInput* OperatorResults::settling_operand() const {
  if (op_.result != ResultRule::kRequireSame || !op_.unchecked.empty()) return nullptr;
  const auto parts = participants(op_, inputs_);
  const auto found = std::find_if(parts.begin(), parts.end(), [](const ChosenInput* each) {
    const Alternative& one = *each->alternative;
    return one.kind == Kind::kTensor && !is_unknown(one) && !one.uncertain && !one.symbols;
  });
  return found == parts.end() ? nullptr : *found;
}

// C++ numbers with an element type among themselves: each type counts, and autocast has no say.
bool OperatorResults::is_scalar_arithmetic() const {
  bool any = false;
  for (const ChosenInput& input : inputs_) {
    const Alternative& each = *input.alternative;
    if (each.kind == Kind::kTensor && !each.rank.wrapped) return false;
    // One that is not known is a tensor here.
    if (each.kind == Kind::kUnknown && is_named(Named::kMaskArgument, input.argument)) return false;
    any = any || each.kind == Kind::kTensor;
  }
  return any;
}

std::vector<OperatorInput> OperatorResults::table_inputs(unsigned zero_dimensional) const {
  std::vector<OperatorInput> out;
  const bool scalars = is_scalar_arithmetic();
  for (const ChosenInput& input : inputs_) {
    const Alternative& each = *input.alternative;
    if (is_unknown(each)) continue;
    // A precision setting's dtype is a guess for a mask: that it would be refused tells that it is none.
    const bool checked = std::any_of(op_.refuses_argument.begin(), op_.refuses_argument.end(),
                                     [&](const auto& refused) { return refused.first == input.argument; });
    const auto& joined = op_.promoting.all();
    if (each.assumed && checked && std::find(joined.begin(), joined.end(), input.argument) == joined.end())
      continue;
    if (each.kind == Kind::kNumber) {
      out.push_back({input.argument, each.dtype, RankClass::kWrapped});
    } else if (each.kind == Kind::kBool) {
      out.push_back({input.argument, Dtype::kBool, RankClass::kWrapped});
    } else if (each.kind == Kind::kTensor) {
      const auto found = std::find_if(ambiguous_.begin(), ambiguous_.end(), [&](const ChosenInput* one) {
        return one == &input || one->alternative->rank.is_tied_to(each.rank);
      });
      bool zero = !each.rank.may_be_dimensioned();
      if (found != ambiguous_.end()) zero = (zero_dimensional >> (found - ambiguous_.begin())) & 1U;
      out.push_back({input.argument, each.dtype,
                     each.rank.wrapped && !scalars ? RankClass::kWrapped
                     : zero || scalars             ? RankClass::kZeroDim
                                                   : RankClass::kDim});
    }
  }
  return out;
}

std::vector<Alternative> OperatorResults::evaluate(std::string_view device, std::string_view torch_version,
                                                   const AutocastState& autocast, Dtype default_dtype) const {
  std::vector<Alternative> out;
  const auto add = [&](const Alternative& each) {
    const auto same =
        std::find_if(out.begin(), out.end(), [&](const Alternative& o) { return o.dtype == each.dtype; });
    if (same == out.end()) out.push_back(each);
  };
  // An undefined tensor has no dtype to give, and what comes after it gives none in its place: PyTorch
  // throws.
  const bool of_nothing =
      !inputs_.empty() && inputs_.front().alternative->kind == Kind::kNone &&
      (op_.result == ResultRule::kLikeFirst || contains(op_.promoting, inputs_.front().argument));
  if (of_nothing) return out;
  const bool scalars = is_scalar_arithmetic();
  if (rests_on_unknown()) {
    Alternative unknown = Alternative::tensor(Dtype::kUndefined, rank_);
    unknown.lineage = lineage();
    unknown.products = products();
    add(unknown);
  } else {
    for (const bool on : {true, false}) {
      if (scalars ? on : !(on ? autocast.may_be_on : autocast.may_be_off)) continue;
      if (on && (autocast.dtype == Dtype::kUndefined || may_be_widened(device, torch_version))) {
        add(Alternative::tensor(Dtype::kUndefined, rank_));
        continue;
      }
      // Where the default dtype is not known, what hangs on it is not.
      const bool is_open = default_dtype == Dtype::kUndefined;
      const OperatorContext context{device, on ? autocast.dtype : Dtype::kUndefined,
                                    is_open ? Dtype::kFloat32 : default_dtype, torch_version};
      OperatorContext other = context;
      other.default_dtype = Dtype::kFloat64;
      for (unsigned zero = 0; zero < (1U << ambiguous_.size()); ++zero) {
        const auto inputs = table_inputs(zero);
        const OperatorOutcome outcome = dtype_guard::evaluate(op_, inputs, dtype_, context);
        if (is_open && dtype_guard::evaluate(op_, inputs, dtype_, other).dtype != outcome.dtype) {
          // Beside float32 what is not known is taken to be no wider; this may be.
          Alternative in_default = Alternative::tensor(Dtype::kUndefined, rank_);
          in_default.assumed = true;
          add(in_default);
          add(Alternative::tensor(Dtype::kFloat64, rank_));
          continue;
        }
        if (!outcome.dtype) continue;
        Alternative one = alternative(outcome);
        one.assumed = one.assumed || (on && autocast.assumed && !participants(op_, inputs_).empty());
        add(one);
      }
    }
  }
  for (Alternative& each : out) each.uncertain = each.uncertain || out.size() > 1;
  return out;
}

Alternative OperatorResults::alternative(const OperatorOutcome& outcome) const {
  const Dtype result = *outcome.dtype;
  Alternative out = Alternative::tensor(result, rank_);
  const ChosenInput* settling = settling_operand();
  for (const ChosenInput* each : participants(op_, inputs_)) {
    const Alternative& input = *each->alternative;
    const bool has_no_say = promotes(op_) || takes_one_dtype(op_);
    if (has_no_say && is_unknown(input)) continue;
    if (!settling || settling == each) {
      out.symbols = symbols_.unite(out.symbols, input.symbols);
      out.uncertain = out.uncertain || input.uncertain;
    }
    out.assumed = out.assumed || input.assumed;
    out.displaced = out.displaced || input.displaced;
  }
  auto [promoted, raised, equal, narrow, open, widened] = deciding(result);
  out.lineage = lineage();
  out.products = products();
  const bool explicit_dtype = dtype_ || op_.result == ResultRule::kCast;
  // What widened something unknown, such as positions, says nothing where a half value is met.
  if (!narrow && !promoted && !raised) (widened ? promoted : narrow) = widened ? widened : open;
  // Where all must be of one dtype, a cast of one of them asks for it of all.
  const bool is_asked = raised && op_.result == ResultRule::kRequireSame;
  const ChosenInput* inherited = promoted && !is_asked ? promoted
                                 : raised              ? raised
                                 : narrow              ? nullptr
                                                       : equal;
  if (explicit_dtype && !(equal && participants(op_, inputs_).size() == 1)) inherited = nullptr;
  // A cast that changes nothing in this setting still states what was the setting's choice before.
  if (inherited && explicit_dtype && stated_.by != StatedBy::kSetting && inherited->alternative->assumed &&
      !inherited->alternative->origin)
    inherited = nullptr;
  // What decides among several dtypes decides here, however wide the value was before.
  if (explicit_dtype && stated_.by == StatedBy::kChoice) inherited = nullptr;
  // What from_blob is given is memory: no value that it could have widened.
  Dtype before = op_.result == ResultRule::kFactory ? Dtype::kUndefined
                 : narrow                           ? narrow->alternative->dtype
                 : equal                            ? result
                 : inputs_.empty()                  ? Dtype::kUndefined
                                                    : inputs_.front().alternative->dtype;
  if (inherited) {
    out.origin = inherited->alternative->origin;
    out.trail = inherited->alternative->trail;
    const Origin* first = origins_.find(out.origin);
    if (is_cast() && first && (first->widens_half() || widens_unknown(first)) && first->after == result)
      before = state_again(out, *first);
  } else if (goes_back_to_wide(out)) {
    out.origin = origins_.step(stated_.told)->origin;
    out.trail = stated_.told;
  } else if (result != Dtype::kBool) {  // indices and lengths too: a call may take only int32
    out.origin = origins_.origin(origin(result, outcome.by_autocast, narrow, equal));
    out.assumed = out.assumed && !(op_.result == ResultRule::kCast && op_.fixed != Dtype::kUndefined);
  }
  if (out.origin) {
    std::string note = inherited                       ? ""
                       : outcome.by_autocast && narrow ? "autocast returns the wider type"
                                                       : "";
    out.trail = origins_.step(
        out.trail, out.origin,
        {0, 0, site_.function, site_.instruction, shown_name(op_), before, result, std::move(note)});
  }
  return out;
}

std::uint8_t OperatorResults::lineage() const {
  std::vector<std::uint8_t> of_inputs;
  for (const ChosenInput& each : inputs_) {
    const bool tensor = each.alternative->kind == Kind::kTensor && !each.alternative->rank.wrapped;
    const bool may_be_one = each.alternative->kind == Kind::kUnknown && adds(op_.name);
    if (tensor || may_be_one) of_inputs.push_back(each.alternative->lineage);
  }
  return lineage_after(op_.name, of_inputs);
}

bool tells_half_types_apart(const Operator& op, std::string_view device, std::string_view torch_version) {
  const auto has_one = [](const DtypeSet& all) {
    return all.contains(Dtype::kFloat16) != all.contains(Dtype::kBFloat16);
  };
  const DtypeSet* kernel = autocast_kernel(op.name, device, torch_version);
  return is_half(op.fixed) || op.fixed == Dtype::kComplex32 || has_one(op.refuses) ||
         has_one(op.refuses_operand) || has_one(op.unchecked) || (kernel && has_one(*kernel)) ||
         std::any_of(op.refuses_argument.begin(), op.refuses_argument.end(),
                     [&](const auto& each) { return has_one(each.second); });
}

SymbolSetId OperatorResults::products() const {
  SymbolSetId out = 0;
  if (!keeps_products(op_)) return out;
  for (const ChosenInput& each : inputs_) {
    if (each.alternative->kind == Kind::kTensor) out = symbols_.unite(out, each.alternative->products);
  }
  return out;
}

}  // namespace dtype_guard::flow
