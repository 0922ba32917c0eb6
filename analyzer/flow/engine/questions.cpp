// What an undecided question is known by, so that asking it twice is seen to be that: what is asked of which
// values, and how it is spelt in which function. What two questions have in common makes them one that may
// have one answer; that a value changed in between is not looked at, nor which activation asks.
#include "analyzer/flow/engine/questions.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/operators/shape_questions.h"
#include "rules/operators/library_names.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;

// Other names of one question.
std::string_view subject(std::string_view name) {
  constexpr std::string_view kOfTensors = name_of(Named::kTensorMethods);
  if (name.starts_with(kOfTensors)) name.remove_prefix(kOfTensors.size());
  const ShapeQuestion* known = find_shape_question(name);
  return known ? known->subject : name;
}

constexpr const char* kUndecided = "undecided";

// Empty where nothing tells the value from others.
std::string identity(const Value& value) {
  const Alternative* one = value.single();
  const RankSymbol symbol = value.is_bottom() ? 0 : value.begin()->rank.symbol;
  const bool is_one_tensor = symbol && std::all_of(value.begin(), value.end(), [&](const Alternative& each) {
                               return each.kind == Kind::kTensor && each.rank.symbol == symbol;
                             });
  if (is_one_tensor) return fmt::format("tensor {}", symbol);
  const bool is_made = one && one->kind == Kind::kTensor && one->rank.is_exact() && one->trail;
  if (is_made) return fmt::format("made {}", one->trail);
  if (!one) return "";
  switch (one->kind) {
    case Kind::kObject:
    case Kind::kHandle:
    case Kind::kClosure:
    case Kind::kReference:
      return fmt::format("object {} {} {}", one->object, static_cast<int>(one->key.kind), one->key.id);
    case Kind::kDtype:
      return one->dtype == Dtype::kUndefined ? "" : std::string(name(one->dtype));
    case Kind::kNone:
      return "none";
    default:
      break;
  }
  if (one->has_number) return fmt::format("number {}", one->number);
  // Which symbols these are is no part of it: in a loop each round would ask something new.
  return one->symbols ? kUndecided : "";
}

// Whether it is a tensor, or a list of such.
bool has_shape(const Value& value, const State& state) {
  return !value.is_bottom() && std::all_of(value.begin(), value.end(), [&](const Alternative& each) {
    const HeapObject* object = each.kind == Kind::kObject ? state.find(each.object) : nullptr;
    return each.kind == Kind::kTensor || each.kind == Kind::kHandle || each.kind == Kind::kNone ||
           (object && object->kind == HeapObject::Kind::kContainer);
  });
}
}  // namespace

// A question's name and what it is asked of: `pointer` and `pointer != nullptr` are one.
static Question question(const Instruction& instruction, const State& state) {
  Question out;
  if (instruction.op == Op::kLoad || instruction.op == Op::kCopy || instruction.op == Op::kParam) {
    const Value& it = value(state, instruction.result);
    return {"there", {it}, has_shape(it, state) ? Nature::kShape : Nature::kAnswer};
  }
  if (instruction.op != Op::kOperator && instruction.op != Op::kCall) return out;
  out.name = subject(instruction.name);
  const bool compares = out.name == "eq" || out.name == "ne";
  // Which dimension: it may be counted from either end, and another is often asked of the same.
  const std::size_t asked = is_named(Named::kSizeFromEitherEnd, out.name)
                                ? std::min<std::size_t>(1, instruction.args.size())
                                : instruction.args.size();
  for (std::size_t i = 0; i < asked; ++i) {
    const Value& each = argument(state, instruction, i);
    const bool is_nothing = compares && each.single() && each.single()->kind == Kind::kNone;
    if (!is_nothing) out.of.push_back(each);
  }
  if (compares && out.of.size() == 1) out.name = "there";
  const bool of_tensor = !out.of.empty() && has_shape(out.of.front(), state);
  if (instruction.op == Op::kOperator && (of_tensor || instruction.name == kMoreElements))
    out.nature = Nature::kShape;
  return out;
}

// None where something that it is asked of is not told from others.
SymbolSetId Questions::asked_of(const Question& asked) {
  std::string key = asked.name;
  bool is_told_apart = false;
  for (const Value& each : asked.of) {
    const std::string of = identity(each);
    if (of.empty()) return 0;
    is_told_apart = is_told_apart || of != kUndecided;
    key += '|' + of;
  }
  if (asked.name.empty() || !is_told_apart) return 0;
  return ids_.question(asked.nature, key);
}

SymbolSetId Questions::asked(const Activation& activation, const Instruction& instruction,
                             const State& state) {
  const Question what = question(instruction, state);
  const SymbolSetId content = asked_of(what);
  const SymbolSetId spelt =
      instruction.text.empty()
          ? ids_.choice(what.nature, activation.context, &instruction)
          : ids_.question(what.nature, std::to_string(activation.function) + ' ' + instruction.text);
  return symbols_.unite(content, spelt);
}

Comparison Questions::comparison(const Instruction& condition, bool taken, const State& state) {
  const bool equal = condition.name == "eq";
  if (condition.op != Op::kOperator || (!equal && condition.name != "ne") || condition.args.size() != 2)
    return {};
  for (const std::size_t side : {0U, 1U}) {
    const Alternative* one = argument(state, condition, side).single();
    const bool is_constant = one && one->has_number && !one->symbols && one->dtype != Dtype::kFloat64;
    const SymbolSetId of = symbols_of(argument(state, condition, 1 - side), symbols_);
    if (is_constant && of) return {of, one->number, equal == taken};
  }
  return {};
}

namespace {
// What is asked, whichever way it is spelt: `if (!(n == 4))` asks what `if (n == 4)` does, and the other way
// is taken.
struct Asked {
  const Instruction* definition = nullptr;
  ValueId answer = 0;
  bool opposite = false;
};
Asked asked_by(const Activation& activation, const Instruction& instruction, const State& state) {
  constexpr int kMaxWalk = 32;
  Asked out{activation.info.definition(instruction.args[0].value), instruction.args[0].value};
  for (int depth = 0; depth < kMaxWalk; ++depth) {
    const Instruction* opposite = out.definition;
    const bool is_opposite = opposite && opposite->op == Op::kOperator && opposite->name == "logical_not" &&
                             !opposite->args.empty();
    const ValueId inner = is_opposite ? opposite->args[0].value : 0;
    const Instruction* definition = is_opposite ? activation.info.definition(inner) : nullptr;
    if (!definition || value(state, inner).is_bottom()) break;
    out = {definition, inner, !out.opposite};
  }
  return out;
}
}  // namespace

// A branch that was taken, or a check that was passed.
Guard Questions::guard(const Activation& activation, const Instruction& instruction, bool taken,
                       const State& state) {
  constexpr int kPassage = -1;
  const Asked asked = asked_by(activation, instruction, state);
  const Instruction* condition = asked.definition;
  // A check that is spelt as a denial leaves something, as an early return does.
  const Instruction* spelt = activation.info.definition(instruction.args[0].value);
  const bool is_denial = instruction.op == Op::kAssume && spelt && spelt->name == "logical_not";
  const bool holds = !is_denial && taken != asked.opposite;
  const bool throws = condition && condition->op == Op::kOperator && condition->name == kMayThrow;
  const bool is_check = throws || instruction.op == Op::kAssume ||
                        activation.info.always_throws[instruction.targets[taken ? 1 : 0]];
  SymbolSetId symbols = decided_by(activation, instruction, taken, state);
  // That a round comes at all is no question about which it is.
  const bool leaves = instruction.op == Op::kBranch && leaves_a_loop(activation, activation.block);
  if (leaves) symbols = symbols_.without_rounds(symbols);
  // That no round comes says nothing of other questions, as in a loop, where the first round stands before
  // it.
  const bool comes = condition && condition->op == Op::kOperator && condition->name == kMoreElements;
  if (comes && !leaves && !taken) symbols = symbols_.checked(symbols_.deciding(symbols));
  const SymbolSets::Passage passage = SymbolSets::passage(
      ids_.symbol_number(activation.context, &instruction, kPassage), taken, is_repeated(activation));
  return {activation.context,
          activation.block,
          holds,
          is_check ? symbols_.checked(symbols) : symbols,
          passage,
          is_check,
          leaves,
          condition ? comparison(*condition, taken != asked.opposite, state) : Comparison{}};
}

// What is known where a branch was taken, or a check passed.
SymbolSetId Questions::decided_by(const Activation& activation, const Instruction& instruction, bool taken,
                                  const State& state) {
  const Asked what = asked_by(activation, instruction, state);
  const Value& condition = value(state, what.answer);
  if (const SymbolSetId symbols = condition_of(condition, taken != what.opposite, symbols_)) return symbols;
  if (condition.size() > 1) return ids_.undecided();
  return asked(activation, what.definition ? *what.definition : instruction, state);
}

}  // namespace dtype_guard::flow
