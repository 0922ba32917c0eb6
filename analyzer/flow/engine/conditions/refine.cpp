// What a condition proves. The condition's defining instructions are walked, through copies and bool locals,
// down to comparisons of dtypes; the tensor that was asked about, and every place that holds the very same
// value, keeps only the alternatives that agree.
#include <algorithm>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/conditions/class_tests.h"
#include "analyzer/flow/engine/conditions/conditions.h"
#include "analyzer/flow/engine/conditions/value_kinds.h"
#include "analyzer/flow/engine/held_values.h"
#include "analyzer/flow/engine/known_values.h"
#include "analyzer/flow/ir/module_code.h"
#include "analyzer/flow/values/ranks.h"
#include "rules/operators/library_names.h"
#include "rules/operators/operators.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
constexpr int kMaxWalk = 32;

bool is_known_dtype(const Alternative& each) {
  return each.kind == Kind::kDtype && each.dtype != Dtype::kUndefined;
}

// Whether something that runs behind the instruction, in that block, may give tensors other dimensions.
bool may_be_reshaped_behind(const Instruction& instruction, const Block& block) {
  const auto& all = block.instructions;
  const auto is_it = [&](const Instruction& each) { return &each == &instruction; };
  const auto at = std::find_if(all.begin(), all.end(), is_it);
  return at == all.end() || std::any_of(at, all.end(), [](const Instruction& each) {
           const Operator* op = each.op == Op::kOperator ? find_operator(each.name) : nullptr;
           return each.op == Op::kCall || (op && op->in_place);
         });
}

// `x.dim() == 3` of what may be several tensors: those stay that may have so many dimensions.
void keep_by_rank(const Activation& activation, State& state, const Instruction& comparison, bool equal) {
  for (const std::size_t side : {0, 1}) {
    const Instruction* counted = activation.info.definition(comparison.args[side].value);
    const Alternative* number = argument(state, comparison, 1 - side).single();
    const bool counts = counted && counted->op == Op::kOperator && counted->args.size() == 1;
    if (!counts || !is_named(Named::kCountsDimensions, counted->name) || !number ||
        number->kind != Kind::kNumber || !number->has_number ||
        may_be_reshaped_behind(*counted, activation.code.blocks[activation.block]))
      continue;
    const Value asked = value(state, counted->args[0].value);
    std::vector<Alternative> kept;
    std::copy_if(asked.begin(), asked.end(), std::back_inserter(kept), [&](const Alternative& each) {
      const Rank rank = state.ranks.known(each.rank);
      const bool may_be = rank.min <= number->number && number->number <= rank.max;
      return each.kind != Kind::kTensor || rank.wrapped || (equal ? may_be : !may_be || !rank.is_exact());
    });
    if (!kept.empty() && kept.size() != asked.size())
      replace_everywhere(state, asked, left_of(asked, std::move(kept)));
  }
}
bool is_order(std::string_view name) { return name == "lt" || name == "le" || name == "gt" || name == "ge"; }
}  // namespace

bool Conditions::narrow(State& state, const Value& before, const Value& after) {
  if (effects_.is_input(before)) (void)effects_.as_input(after);
  return replace_everywhere(state, before, after);
}

// Behind an operator its operands are none of what it throws for. Where a handler may follow, they may be.
void Conditions::pass_without(const Activation& activation, State& state,
                              const std::vector<Refused>& refused) {
  const auto is_handled = [](const Activation& at) {
    return std::any_of(at.code.blocks.begin(), at.code.blocks.end(), [](const Block& block) {
      return std::any_of(block.instructions.begin(), block.instructions.end(),
                         [](const Instruction& each) { return each.name == kMayThrow; });
    });
  };
  for (const Activation* at = &activation; at && !refused.empty(); at = at->caller) {
    if (is_handled(*at)) return;
  }
  for (const Refused& each : refused) {
    const Value asked = shared_contents(state, value(state, each.value));
    std::vector<Alternative> kept, left_out;
    const auto is_refused = [&](const Alternative& one) {
      return one.kind == Kind::kTensor &&
             std::any_of(each.alternatives.begin(), each.alternatives.end(),
                         [&](const Alternative& other) { return same_place_in_order(one, other); });
    };
    for (const Alternative& one : asked) {
      const Value held = one.kind == Kind::kHandle ? shared_contents(state, Value(one)) : Value(one);
      const bool stays = held.is_bottom() || !std::all_of(held.begin(), held.end(), is_refused);
      (stays ? kept : left_out).push_back(one);
    }
    if (kept.empty() || left_out.empty()) continue;
    add_ways(state.guards, kept, left_out, activation.context, activation.block, symbols_);
    (void)narrow(state, asked, left_of(asked, std::move(kept)));
  }
}

bool Conditions::refine(const Activation& activation, State& state, ValueId condition, bool wanted,
                        int depth) {
  const Value known = value(state, condition);
  if (const auto now = truth(known, state, ids_)) return *now == wanted;
  const Instruction* definition = activation.info.definition(condition);
  if (depth > kMaxWalk || !definition) return true;
  if (depth == 0) doubt_lists(activation, state, condition, 0);

  // A bool local or a bool that a callee returned: go on where it was computed, when that was here.
  if (definition->op == Op::kLoad || definition->op == Op::kCopy || definition->op == Op::kPhi) {
    const Alternative* one = known.single();
    if (one && one->source && one->context == activation.context && one->source != condition) {
      if (!refine(activation, state, one->source, wanted, depth + 1)) return false;
    }
  }
  if (definition->op == Op::kOperator && !definition->args.empty()) {
    const std::string& name = definition->name;
    if (!refine_count(state, *definition, wanted)) return false;
    if (name == "logical_not") {
      if (!refine(activation, state, definition->args[0].value, !wanted, depth + 1)) return false;
    } else if (const Instruction* joined = joined_tests(*definition, activation.info)) {
      const bool all = joins_all(name) == wanted;  // every part has that truth
      std::size_t open = 0;
      ValueId last = 0;
      for (const Argument& each : joined->args) {
        if (all && !refine(activation, state, each.value, wanted, depth + 1)) return false;
        const auto part = truth(value(state, each.value), state, ids_);
        if (!all && part == wanted) return true;
        if (!part) {
          ++open;
          last = each.value;
        }
      }
      if (!all && open == 1 && !refine(activation, state, last, wanted, depth + 1)) return false;
      if (!all && open > 1 && !refine_any(activation, state, *joined, wanted, depth)) return false;
    } else if (name == "eq" || name == "ne") {
      const bool equal = (name == "eq") == wanted;
      if (definition->args.size() == 2) keep_by_rank(activation, state, *definition, equal);
      if (!refine_comparison(activation, state, *definition, equal)) return false;
      if (!refine_truth(activation, state, *definition, equal, depth)) return false;
    } else if (name.starts_with(kIsInstance)) {
      if (!refine_class(activation, state, *definition, wanted)) return false;
    } else {
      const Value asked = value(state, definition->args[0].value);
      const Value kept = left_by_test(name, asked, state, wanted);
      if (kept.size() != asked.size() && !narrow(state, asked, kept)) return false;
    }
  }
  doubt(activation, state, condition, 0);
  // The same unknown bool has this truth wherever it is kept, and a number without is 0. What is not known is
  // no bool for that.
  std::vector<Alternative> settled;
  for (Alternative each : value(state, condition)) {
    const bool is_bool = each.kind == Kind::kBool || each.kind == Kind::kUnknown;
    if (each.has_number && (each.number != 0) != wanted) continue;
    if (each.kind == Kind::kNone && wanted) continue;
    const bool is_zero = each.kind == Kind::kNumber && each.dtype == Dtype::kInt64 && !wanted;
    if (is_bool && !each.has_number) {
      each.has_number = true;
      each.number = wanted;
    } else if (is_zero && !each.has_number) {
      each.has_number = true;
      each.number = 0;
    }
    settled.push_back(each);
  }
  const Value before = value(state, condition);
  return narrow(state, before, Value(std::move(settled)));
}

// What was not known is an object of the class behind the test, as a caller hands one in.
bool Conditions::refine_class(const Activation& activation, State& state, const Instruction& test,
                              bool wanted) {
  const Value asked = value(state, test.args[0].value);
  const std::string class_name = test.name.substr(kIsInstance.size());
  LeftByClass left = left_by_class(asked, class_name, program_.classes, state, wanted);
  const bool has_name = std::all_of(asked.begin(), asked.end(), [](const Alternative& each) {
    return each.kind != Kind::kUnknown || each.symbols != 0;
  });
  if (left.is_open && !has_name) return true;
  if (left.is_open && left.kept.is_bottom())
    left.kept = evaluator_.object_asked_for(class_name, activation, test, state);
  return left.kept == asked || narrow(state, asked, left.kept);
}

// What an unseen function was asked about a tensor or its dtype may be just what the call wants: the
// dtype is known no longer on either side. Nor is it where dtypes are told apart by their order.
void Conditions::doubt(const Activation& activation, State& state, ValueId condition, int depth) {
  const Instruction* definition = activation.info.definition(condition);
  constexpr int kMaxParts = 6;
  const Value known = value(state, condition);
  const bool opaque = std::any_of(known.begin(), known.end(),
                                  [](const Alternative& each) { return each.kind == Kind::kUnknown; });
  const bool equates = definition && (definition->name == "eq" || definition->name == "ne");
  const bool compares = equates || (definition && is_order(definition->name));
  if (!definition || depth > kMaxParts) return;
  if (!opaque && !compares) return doubt_counted(activation, state, *definition);
  if (definition->op != Op::kCall && definition->op != Op::kOperator) return;
  for (const Argument& each : definition->args) {
    const Value asked = value(state, each.value);
    const Alternative* one = asked.single();
    if (one && one->kind == Kind::kDtype && one->source && one->context == activation.context) {
      if (!equates) weaken(state, value(state, one->source));
    } else if (definition->op == Op::kCall) {
      weaken(state, asked);
    } else {
      doubt(activation, state, each.value, depth + 1);
    }
  }
}

// A number made of answers that are known each: `is_half(q) + is_half(k) == 2`.
void Conditions::doubt_counted(const Activation& activation, State& state, const Instruction& number) {
  const Instruction* made = number.op == Op::kLoad ? activation.info.definition(number.place.base) : nullptr;
  if (!made || made->op != Op::kAlloc) return;
  for (const Argument& part : made->args) {
    const Instruction* answer = activation.info.definition(part.value);
    if (!answer || answer->op != Op::kCall) continue;
    const std::vector<std::uint32_t> asked = index_.may_run(*answer);
    const bool asks_dtype = std::any_of(asked.begin(), asked.end(), [&](std::uint32_t each) {
      return program_.questions.asks_for_dtypes(each);
    });
    if (!asks_dtype) continue;
    for (const Argument& each : answer->args) weaken(state, value(state, each.value));
  }
}

// Of what an undecided condition was computed from: one of a list, or a list that was handed to who asks.
void Conditions::doubt_lists(const Activation& activation, State& state, ValueId condition, int depth) const {
  constexpr int kMaxParts = 6;
  const Instruction* definition = activation.info.definition(condition);
  const bool computes = definition && (definition->op == Op::kOperator || definition->op == Op::kCall ||
                                       definition->op == Op::kDtypeOf);
  if (!computes || depth > kMaxParts) return;
  // What asks of a list something else says nothing of its dtypes.
  const std::vector<std::uint32_t> callees = index_.may_run(*definition);
  const bool asks_dtype = std::any_of(callees.begin(), callees.end(), [&](std::uint32_t each) {
    return program_.questions.asks_for_dtypes(each);
  });
  for (const Argument& each : definition->args) {
    const Value asked = value(state, each.value);
    const Alternative* one = asked.single();
    const bool list = asks_dtype && one && one->kind == Kind::kObject;
    const HeapObject* object = list ? state.find(one->object) : nullptr;
    if (object && object->kind == HeapObject::Kind::kContainer) {
      std::vector<Value> all;
      for (const auto& [key, cell] : object->cells) all.push_back(cell);
      doubt_elements(state, all);
    }
    if (const std::vector<Value>* several = memory_.several_of(asked)) doubt_elements(state, *several);
    doubt_lists(activation, state, each.value, depth + 1);
  }
}

bool Conditions::refine_comparison(const Activation& activation, State& state, const Instruction& comparison,
                                   bool equal) {
  if (comparison.args.size() != 2) return true;
  const Value sides[2] = {argument(state, comparison, 0), argument(state, comparison, 1)};
  for (int i = 0; i < 2; ++i) {
    const Value& mine = sides[i];
    const Value& other = sides[1 - i];
    if (other.single() && other.single()->kind == Kind::kNone) {
      std::vector<Alternative> kept;
      bool is_told = false;  // of what may be anything, that it is none
      for (const Alternative& each : mine) {
        const bool decides = each.kind == Kind::kNone || each.kind == Kind::kTensor;
        if (!decides || (each.kind == Kind::kNone) == equal) kept.push_back(each);
        if (each.kind != Kind::kUnknown || !equal) continue;
        kept.back() = Alternative::of(Kind::kNone);
        kept.back().symbols = each.symbols;
        is_told = true;
      }
      const bool learns = is_told || kept.size() != mine.size();
      if (learns && !narrow(state, mine, Value(answered(mine, std::move(kept))))) return false;
      continue;
    }
    std::vector<Dtype> dtypes;
    for (const Alternative& each : other) {
      if (!is_known_dtype(each)) dtypes.clear();
      if (!is_known_dtype(each)) break;
      dtypes.push_back(each.dtype);
    }
    // Differing from one of several dtypes proves nothing.
    if (dtypes.empty() || (!equal && dtypes.size() > 1)) continue;
    // Of a tensor itself, which is no dtype, nothing is proved.
    if (std::any_of(mine.begin(), mine.end(),
                    [](const Alternative& each) { return each.kind == Kind::kTensor; }))
      continue;
    if (!restrict_dtypes(activation, state, comparison.args[static_cast<std::size_t>(i)].value, dtypes,
                         equal)) {
      return false;
    }
  }
  return true;
}

// answer == false
bool Conditions::refine_truth(const Activation& activation, State& state, const Instruction& comparison,
                              bool equal, int depth) {
  if (comparison.args.size() != 2) return true;
  for (const std::size_t side : {0, 1}) {
    const Alternative* literal = argument(state, comparison, side).single();
    const bool is_literal = literal && literal->has_number && literal->number >= 0 && literal->number <= 1 &&
                            (literal->kind == Kind::kBool || literal->kind == Kind::kNumber);
    const Value asked = argument(state, comparison, 1 - side);
    const bool answers = std::all_of(asked.begin(), asked.end(),
                                     [](const Alternative& each) { return each.kind == Kind::kBool; });
    if (!is_literal || !answers || asked.is_bottom()) continue;
    const bool truth = (literal->number != 0) == equal;
    return refine(activation, state, comparison.args[1 - side].value, truth, depth + 1);
  }
  return true;
}

// Whether what was asked for its dtype has it still: a module that owns it may have been converted since.
bool Conditions::is_dtype_still(const State& state, ValueId source, const Value& asked) const {
  const std::vector<Alternative> now = memory_.tensors(state, value(state, source));
  return std::all_of(now.begin(), now.end(), [&](const Alternative& each) {
    return each.kind != Kind::kTensor ||
           std::any_of(asked.begin(), asked.end(),
                       [&](const Alternative& then) { return then.dtype == each.dtype; });
  });
}

bool Conditions::restrict_dtypes(const Activation& activation, State& state, ValueId id,
                                 const std::vector<Dtype>& dtypes, bool keep, int depth) {
  const auto agrees = [&](const Alternative& each) {
    const bool decides =
        (each.kind == Kind::kDtype || each.kind == Kind::kTensor) && each.dtype != Dtype::kUndefined;
    return !decides || (std::find(dtypes.begin(), dtypes.end(), each.dtype) != dtypes.end()) == keep;
  };
  // A tensor that may be left out is a handle beside None: what the handle holds decides.
  const Value asked = value(state, id);
  const bool may_be_none = has_none(asked);
  const auto may_agree = [&](const Alternative& each) {
    const HeapObject* object = may_be_none && each.kind == Kind::kHandle ? state.find(each.object) : nullptr;
    const auto contents = object ? object->cells.find(HeapObject::kContents) : Cells::const_iterator();
    if (!object || contents == object->cells.end() || contents->second.is_bottom()) return agrees(each);
    return std::any_of(contents->second.begin(), contents->second.end(), agrees);
  };
  std::vector<Alternative> kept;
  std::copy_if(asked.begin(), asked.end(), std::back_inserter(kept), may_agree);

  // The tensor whose dtype this is, where it is that of one tensor whichever alternative it is.
  const Alternative* first = asked.is_bottom() ? nullptr : asked.begin();
  const bool derived =
      first && first->source && first->context == activation.context &&
      std::all_of(asked.begin(), asked.end(), [&](const Alternative& each) {
        return each.kind == Kind::kDtype && each.source == first->source && each.context == first->context;
      });
  const ValueId source = derived && is_dtype_still(state, first->source, asked) ? first->source : 0;
  if (kept.size() != asked.size() && !narrow(state, asked, left_of(asked, std::move(kept)))) return false;
  if (source && depth < 4 && !restrict_dtypes(activation, state, source, dtypes, keep, depth + 1))
    return false;

  // A handle's dtype is kept in its cell, a reference's in its place.
  for (const Alternative& each : asked) {
    const bool points = each.kind == Kind::kHandle || each.kind == Kind::kReference;
    if (each.kind == Kind::kReference && asked.size() > 1) {  // which of them was asked is not known
      const Location place{each.object, each.key};
      memory_.write(state, place, weakened(memory_.read(state, place)), true);
    }
    const HeapObject* object = points && asked.size() == 1 ? state.find(each.object) : nullptr;
    const auto cell = object
                          ? object->cells.find(each.kind == Kind::kHandle ? HeapObject::kContents : each.key)
                          : Cells::const_iterator();
    if (!object || cell == object->cells.end()) continue;
    std::vector<Alternative> inner;
    const Value contents = cell->second;
    std::copy_if(contents.begin(), contents.end(), std::back_inserter(inner), agrees);
    if (inner.size() != contents.size() && !narrow(state, contents, left_of(contents, std::move(inner))))
      return false;
  }
  return true;
}

// One of several conditions holds, and which is not known: what each of them proves of ranks does. False when
// none can.
bool Conditions::refine_any(const Activation& activation, State& state, const Instruction& either,
                            bool wanted, int depth) {
  constexpr std::size_t kMaxParts = 8;
  if (either.args.size() > kMaxParts) return true;
  std::optional<RankFacts> ranks;
  for (const Argument& each : either.args) {
    State one = state;
    if (!refine(activation, one, each.value, wanted, depth + 1)) continue;
    if (ranks) {
      ranks->join(one.ranks);
    } else {
      ranks = std::move(one.ranks);
    }
  }
  if (!ranks) return false;
  state.ranks = std::move(*ranks);
  return true;
}

}  // namespace dtype_guard::flow
