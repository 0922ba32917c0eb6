// Operators: every combination of what the inputs may be goes through the operator table; the result's origin
// says which instruction decided its dtype.
#include "analyzer/flow/engine/operations/operators.h"

#include <algorithm>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/operators/contractions.h"
#include "analyzer/flow/operators/forms.h"
#include "analyzer/flow/operators/operator_rank.h"
#include "analyzer/flow/operators/operator_result.h"
#include "analyzer/flow/operators/stores.h"
#include "rules/operators/library_names.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
constexpr std::size_t kMaxCombinations = 64;

// The name of the argument at a position: lists such as cat's tensors repeat the last one.
std::string_view argument_name(const Operator& op, const Argument& argument, std::size_t position) {
  if (!argument.name.empty()) return argument.name;
  return position < op.arguments.size() ? std::string_view(op.arguments[position]) : std::string_view();
}

// A tensor whose dtype the code itself leaves no doubt about, or, unless it is the target, a number. Settings
// assume floating types only, and autocast makes nothing else of integers.
bool is_definite(const Alternative& each, bool target) {
  const bool whole = each.dtype == Dtype::kBool || is_integral(each.dtype);
  if ((each.assumed && !whole) || each.uncertain) return false;
  if (each.kind == Kind::kTensor) return each.dtype != Dtype::kUndefined && !(target && each.rank.wrapped);
  // A string may choose another rule: a rounding mode keeps integers.
  return !target && (each.kind == Kind::kNumber || each.kind == Kind::kBool || each.kind == Kind::kNone);
}

// float32 because two half dtypes met, one of which is the setting's choice: the code may mean the other one.
bool is_guessed(const Alternative& result, const Operator& op, const std::vector<ChosenInput>& inputs) {
  const Alternative *one = nullptr, *other = nullptr;
  bool guessed = false;
  for (const ChosenInput& input : inputs) {
    const Alternative& each = *input.alternative;
    const bool promotes =
        std::find(op.promoting.begin(), op.promoting.end(), input.argument) != op.promoting.end();
    if (!promotes || each.kind != Kind::kTensor) continue;
    if (!is_half(each.dtype) && each.dtype == result.dtype) return false;  // that one widens either
    if (!is_half(each.dtype)) continue;
    if (one && one->dtype != each.dtype) other = &each;
    if (!one) one = &each;
    guessed = guessed || each.assumed;
  }
  return other && guessed && !is_half(result.dtype);
}

// float32 because the code itself has autocast compute half weights in it: that is written for a model which
// runs under another autocast, where layers narrow again what they are handed. Without one in sight it is not
// known.
bool is_autocast_wide(const Alternative& result, const Operator& op, const std::vector<ChosenInput>& inputs,
                      const AutocastState& autocast, const std::string& device, const std::string& version) {
  const bool wide = autocast.may_be_on && !autocast.assumed && autocast.dtype == Dtype::kFloat32;
  if (!wide || result.dtype != Dtype::kFloat32) return false;
  const bool any_half = std::any_of(inputs.begin(), inputs.end(), [](const ChosenInput& each) {
    return each.alternative->kind == Kind::kTensor && is_half(each.alternative->dtype);
  });
  return any_half && autocast_policy(op.name, device, version) == AutocastPolicy::kLowerPrecision;
}

// Whatever it is handed, it gives one dtype: `half()`, `nonzero()`.
bool is_of_one_dtype(const Operator& op) {
  const bool by_cast = op.result == ResultRule::kCast && op.fixed != Dtype::kUndefined;
  return by_cast || op.result == ResultRule::kFixed;
}

// Alternatives of two inputs that got here under opposite conditions.
bool never_together(const std::vector<ChosenInput>& chosen, const SymbolSets& symbols) {
  return std::any_of(chosen.begin(), chosen.end(), [&](const ChosenInput& a) {
    return std::any_of(chosen.begin(), chosen.end(), [&](const ChosenInput& b) {
      return !a.alternative->elsewhere && !b.alternative->elsewhere &&
             symbols.relation(a.alternative->symbols, b.alternative->symbols) ==
                 SymbolSets::Relation::kContradict;
    });
  });
}

// Two inputs that hang on the same things, or are one value, and may be of one dtype: that they differ is on
// no path that is known.
bool may_agree_instead(const std::vector<Alternative>& a, const Alternative& chosen_a,
                       const std::vector<Alternative>& b, const Alternative& chosen_b,
                       const SymbolSets& symbols) {
  if (chosen_a.dtype == chosen_b.dtype || a.size() < 2 || b.size() < 2) return false;
  const bool tied =
      a == b || symbols.relation(chosen_a.symbols, chosen_b.symbols) == SymbolSets::Relation::kCorrelated;
  return tied && std::any_of(a.begin(), a.end(), [&](const Alternative& one) {
           return one.kind == Kind::kTensor && std::any_of(b.begin(), b.end(), [&](const Alternative& other) {
                    return other.kind == Kind::kTensor && other.dtype == one.dtype;
                  });
         });
}

bool states_dtype(const Alternative& each) {
  return each.kind == Kind::kDtype || each.kind == Kind::kOptions;
}
}  // namespace

namespace {
// Of numbers of one type it makes no difference to a dtype which they are.
void forget_what_decides_numbers(std::vector<Alternative>& all) {
  const auto is_like = [&](const Alternative& each) {
    const bool is_number = each.kind == Kind::kNumber || each.kind == Kind::kBool ||
                           (each.kind == Kind::kTensor && each.rank.wrapped);
    return is_number && each.kind == all.front().kind && each.dtype == all.front().dtype;
  };
  if (!std::all_of(all.begin(), all.end(), is_like)) return;
  for (Alternative& each : all) each.symbols = 0;
}

// What compares with something unknown is a bool, or a tensor of bools: it is that where it has a tensor's
// methods.
void compared_is_tensor(std::vector<Alternative>& all) {
  for (Alternative& each : all) {
    if (each.kind != Kind::kBool || each.has_number) continue;
    each.kind = Kind::kTensor;
    each.dtype = Dtype::kBool;
  }
}
}  // namespace

Operands Operators::operands(const Instruction& instruction, const Operator& op, const State& state) {
  Operands out;
  for (std::size_t i = 0; i < instruction.args.size(); ++i) {
    const std::string_view name = argument_name(op, instruction.args[i], i);
    const bool shape = is_named(Named::kShapeArgument, name);
    const Value given = argument(state, instruction, i);
    for (const Value& element : shape ? std::vector<Value>{} : memory_.elements(state, given)) {
      // An element of a list has no value of its own here.
      Input input{name, memory_.tensors(state, element),
                  memory_.is_list(state, given) ? 0 : instruction.args[i].value};
      if (i == 0 && is_of_tensors_alone(op)) compared_is_tensor(input.alternatives);
      forget_what_decides_numbers(input.alternatives);
      const bool is_dtype = !input.alternatives.empty() && states_dtype(input.alternatives.front());
      const bool like = op.result == ResultRule::kCast && i > 0 && !input.alternatives.empty() &&
                        input.alternatives.front().kind == Kind::kTensor &&
                        !input.alternatives.front().rank.wrapped;
      const bool names_dtype =
          name == "dtype" || (op.result == ResultRule::kCast && is_named(Named::kDtypeOfArgument, name));
      const bool unknown_dtype = names_dtype && !is_dtype && !input.alternatives.empty() &&
                                 input.alternatives.front().kind == Kind::kUnknown;
      // Where memory is of no known type, the default decides what is made of it.
      const bool memory = op.result == ResultRule::kFactory && is_named(Named::kMemoryArgument, name) &&
                          input.alternatives.size() == 1 && input.alternatives.front().kind == Kind::kUnknown;
      if (memory) continue;
      if (!is_dtype && !like && !unknown_dtype) {
        out.inputs.push_back(std::move(input));
        continue;
      }
      for (const Alternative& each : input.alternatives) {
        // The default decides, which for options without a dtype is not the operator's own int64.
        if (each.kind == Kind::kOptions && !is_named(Named::kDtypeOfOptions, op.name)) continue;
        out.has_dtype = true;
        const bool states = each.kind == Kind::kDtype || each.kind == Kind::kTensor;
        out.dtypes.push_back({states ? each.dtype : Dtype::kUndefined, each.assumed, each.uncertain,
                              each.symbols, each.kind == Kind::kTensor ? each.trail : each.told});
      }
    }
  }
  return out;
}

// An operator in place or with out= whose result cannot go into the tensor there: what it would write to is
// known, so is everything else, and the same operator with a result of its own would not have thrown.
bool Operators::cannot_store(const Activation& activation, const Instruction& instruction, State& state) {
  const Operator* op = operator_of(instruction, activation.info);
  if (!op || !op->in_place || store_contract(*op)) return false;  // a store is watched by what comes of it
  std::string_view plain_name = op->name;
  constexpr std::string_view kOut = name_of(Named::kWritesToOut);
  plain_name.remove_suffix(plain_name.ends_with(kOut) ? kOut.size() : 1);
  const Operator* plain = find_operator(plain_name);
  const Operands given = operands(instruction, *op, state);
  const bool definite = std::all_of(given.inputs.begin(), given.inputs.end(), [&](const Input& input) {
    const bool target = input.argument == op->arguments.front();
    const bool listed = std::find(op->arguments.begin(), op->arguments.end(), input.argument) !=
                        op->arguments.end();  // not the second result of max_out
    return listed && !input.alternatives.empty() &&
           std::all_of(input.alternatives.begin(), input.alternatives.end(),
                       [&](const Alternative& each) { return is_definite(each, target); });
  });
  const bool stated = std::all_of(given.dtypes.begin(), given.dtypes.end(), [](const StatedDtype& each) {
    return each.dtype != Dtype::kUndefined && !each.assumed;
  });
  const bool assumed = state.autocast.assumed && op->out_calls_operator;
  if (!plain || given.inputs.empty() || !definite || !stated || assumed) return false;
  const Value unknown = Value::unknown();
  const auto throws = [&](const Operator& entry) {
    return outcomes(activation, instruction, entry, given, {}, unknown, state).is_bottom();
  };
  return throws(*op) && !throws(*plain);
}

Value Operators::wrap_list(const Activation& activation, const Instruction& instruction, const Value& element,
                           State& state) {
  const HeapId id = ids_.object(activation.context, &instruction);
  HeapObject list;
  list.kind = HeapObject::Kind::kContainer;
  list.rest = rounds_.kept_in(state, id, element);
  state.put(id, std::move(list));
  return Value(Alternative::at(Kind::kObject, id));
}

Value Operators::apply(const Activation& activation, const Instruction& instruction, const Operator& op,
                       Operands given, State& state, std::vector<Refused>* refused) {
  const Rank rank =
      ranks_.own_rank(activation, instruction,
                      OperatorRank(op, instruction, ranks_.rank_inputs(instruction, state)).result());
  return apply_at(rank, activation, instruction, op, std::move(given), state, refused);
}

Value Operators::apply_at(const Rank& rank, const Activation& activation, const Instruction& instruction,
                          const Operator& op, Operands given, const State& state,
                          std::vector<Refused>* refused) {
  SymbolSetId conditions = 0;
  for (const Input& input : given.inputs) {
    for (const Alternative& each : input.alternatives) {
      if (each.kind != Kind::kTensor) conditions = symbols_.unite(conditions, each.symbols);
    }
  }
  Alternative unknown = Alternative::tensor(Dtype::kUndefined, rank);
  unknown.symbols = conditions;
  const Value out =
      outcomes(activation, instruction, op, std::move(given), rank, Value(unknown), state, refused);
  return out.is_bottom() ? Value(unknown) : out;
}

namespace {
bool perhaps_never_together(const std::vector<Input>& inputs, const std::vector<ChosenInput>& chosen,
                            const SymbolSets& symbols) {
  std::vector<const std::vector<Alternative>*> all;
  for (const Input& input : inputs) {
    if (!input.alternatives.empty()) all.push_back(&input.alternatives);
  }
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Alternative &a = *chosen[i].alternative, &b = *chosen[j].alternative;
      const bool tensors = a.kind == Kind::kTensor && b.kind == Kind::kTensor;
      if (tensors && may_agree_instead(*all[i], a, *all[j], b, symbols)) return true;
    }
  }
  return false;
}
}  // namespace

// An input, or a view of one, which may as well be integers or a mask: autocast leaves their sums as they
// are.
bool Operators::is_view_of_input(const Activation& activation, ValueId id, const State& state) const {
  constexpr int kMaxViews = 8;
  for (int i = 0; i < kMaxViews; ++i) {
    if (effects_.is_input(value(state, id))) return !options_.settings_named_by_user;
    const Instruction* made = activation.info.definition(id);
    const Operator* op = made && made->op == Op::kOperator ? find_operator(made->name) : nullptr;
    const bool is_view = op && op->result == ResultRule::kLikeFirst && !op->in_place && !made->args.empty();
    if (!is_view) return false;
    id = made->args.front().value;
  }
  return false;
}

namespace {
// Of each alternative of each input, what became of the combinations that it is in.
class Fates {
 public:
  explicit Fates(const std::vector<Input>& inputs) : inputs_(inputs) {
    for (const Input& each : inputs) fates_.emplace_back(each.alternatives.size());
  }
  void note(std::size_t combination, bool passes) {
    for (std::vector<Fate>& of_input : fates_) {
      if (of_input.empty()) continue;
      Fate& fate = of_input[combination % of_input.size()];
      (passes ? fate.passes : fate.throws) = true;
      combination /= of_input.size();
    }
  }
  std::vector<Refused> refused() const {
    std::vector<Refused> out;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      Refused one{inputs_[i].value, {}};
      for (std::size_t a = 0; a < fates_[i].size(); ++a) {
        if (fates_[i][a].throws && !fates_[i][a].passes)
          one.alternatives.push_back(inputs_[i].alternatives[a]);
      }
      if (one.value && !one.alternatives.empty()) out.push_back(std::move(one));
    }
    return out;
  }

 private:
  struct Fate {
    bool passes = false, throws = false;
  };
  const std::vector<Input>& inputs_;
  std::vector<std::vector<Fate>> fates_;
};
}  // namespace

// Bottom when PyTorch throws for every combination.
Value Operators::outcomes(const Activation& activation, const Instruction& instruction, const Operator& op,
                          Operands given, const Rank& rank, const Value& too_many, const State& state,
                          std::vector<Refused>* refused) {
  std::vector<Input>& inputs = given.inputs;
  if (!effects_.tells_half_types_apart()) {
    if (flow::tells_half_types_apart(op, options_.device, torch_version_))
      effects_.note_half_types_told_apart();
  }
  // Rules speak of the table's first argument, wherever the call has it.
  const auto first = std::find_if(inputs.begin(), inputs.end(), [&](const Input& each) {
    return !op.arguments.empty() && each.argument == op.arguments.front();
  });
  if (first != inputs.end()) std::rotate(inputs.begin(), first, first + 1);
  std::size_t combinations = 1;
  for (const Input& input : inputs) combinations *= std::max<std::size_t>(1, input.alternatives.size());
  if (combinations > kMaxCombinations) return too_many;

  std::vector<std::optional<StatedDtype>> dtypes(given.dtypes.begin(), given.dtypes.end());
  if (!given.has_dtype) dtypes.assign(1, std::nullopt);
  const OperatorSite site{activation.function, &instruction, &activation.info, activation.code.of_module};
  Value out;
  Fates fates(inputs);
  bool left_out = false;
  for (std::size_t index = 0; index < combinations; ++index) {
    std::vector<ChosenInput> chosen;
    std::size_t remaining = index;
    for (const Input& input : inputs) {
      if (input.alternatives.empty()) continue;
      chosen.push_back(
          {input.argument, &input.alternatives[remaining % input.alternatives.size()], input.value});
      remaining /= input.alternatives.size();
    }
    if (never_together(chosen, symbols_)) {
      left_out = true;
      continue;
    }
    const bool in_doubt = perhaps_never_together(inputs, chosen, symbols_);
    const bool may_be_counts = op.result == ResultRule::kSumLike && !inputs.empty() &&
                               is_view_of_input(activation, inputs.front().value, state);
    for (const auto& dtype : dtypes) {
      const auto stated = dtype ? std::optional(dtype->dtype) : std::nullopt;
      const bool by_code = dtype ? !dtype->assumed : op.fixed != Dtype::kUndefined;
      const StatedBy by = !by_code                                       ? StatedBy::kSetting
                          : dtype && dtypes.size() > 1 && dtype->symbols ? StatedBy::kChoice
                                                                         : StatedBy::kCode;
      const OperatorResults results(op, site, chosen, stated, {by, dtype ? dtype->told : 0}, rank, origins_,
                                    symbols_);
      const std::vector<Alternative> made =
          results.evaluate(options_.device, torch_version_, state.autocast, state.default_dtype);
      fates.note(index, !made.empty());
      for (Alternative each : made) {
        if (each.dtype == Dtype::kComplex32) effects_.note_named(each.dtype);  // bfloat16 has no such type
        if (!dtype && !options_.settings_named_by_user && is_guessed(each, op, chosen)) each.uncertain = true;
        each.uncertain = each.uncertain || in_doubt || (may_be_counts && !is_half(each.dtype));
        // A stated dtype settles what was not known of the inputs.
        if (dtype) each.assumed = dtype->assumed;
        // Which of several is unseen may be only one.
        const bool is_anything =
            by == StatedBy::kChoice && symbols_.rests_on(dtype->symbols, Nature::kAnswer);
        if (dtype) each.uncertain = dtype->uncertain || is_anything || each.dtype == Dtype::kUndefined;
        if (dtype) each.symbols = symbols_.unite(each.symbols, dtype->symbols);
        if (made.size() == 1 && is_of_one_dtype(op)) each.uncertain = false;
        if (!options_.settings_named_by_user &&
            is_autocast_wide(each, op, chosen, state.autocast, options_.device, torch_version_))
          each.uncertain = true;
        out = join(out, Value(each), symbols_);
      }
    }
  }
  if (refused && !out.is_bottom()) *refused = fates.refused();
  return out.is_bottom() && left_out ? too_many : out;
}

}  // namespace dtype_guard::flow
