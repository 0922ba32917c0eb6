// What the table of tensor operators does not know: comparisons of dtypes and numbers, logic, arithmetic on
// numbers, and questions about a tensor (dim, size, defined). Their results carry the symbols that decide
// them.
#include "analyzer/flow/engine/operations/scalars.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/conditions/bounds.h"
#include "analyzer/flow/engine/conditions/class_tests.h"
#include "analyzer/flow/engine/conditions/device_tests.h"
#include "analyzer/flow/engine/conditions/value_kinds.h"
#include "analyzer/flow/engine/held_values.h"
#include "analyzer/flow/engine/known_values.h"
#include "analyzer/flow/engine/operations/told_sizes.h"
#include "analyzer/flow/ir/module_code.h"
#include "analyzer/flow/operators/shape_questions.h"
#include "rules/operators/library_names.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
constexpr std::array<std::string_view, 6> kComparisons = {"eq", "ne", "lt", "le", "gt", "ge"};

bool is_scalar(const Alternative& each) {
  return each.kind == Kind::kNumber || each.kind == Kind::kBool || each.kind == Kind::kString;
}
bool compares(std::string_view name) {
  return std::find(kComparisons.begin(), kComparisons.end(), name) != kComparisons.end();
}

Truth opposite(Truth truth) {
  if (truth == Truth::kOther) return truth;
  return truth == Truth::kSymbol ? Truth::kOpposite : Truth::kSymbol;
}

// Of `a == b`, or `a != b`, where one of them is true or false for certain.
Truth compared(const Value& a, const Value& b, bool equal) {
  for (const auto& [asked, told] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    const Truth open = truth_of(*asked);
    const std::optional<bool> wanted = truth(*told);
    // A number is true without being 1.
    const bool is_bool = std::all_of(asked->begin(), asked->end(),
                                     [](const Alternative& each) { return each.kind == Kind::kBool; });
    if (open != Truth::kOther && wanted && is_bool) return *wanted == equal ? open : opposite(open);
  }
  return Truth::kOther;
}

Value with_truth(const Value& value, Truth truth) {
  std::vector<Alternative> out = value.alternatives();
  for (Alternative& each : out) each.truth = truth;
  return Value(std::move(out));
}

}  // namespace

static Value compare(const Instruction& instruction, const State& state, bool equal) {
  bool may_be_equal = false, may_differ = false;
  for (const Alternative& a : argument(state, instruction, 0)) {
    for (const Alternative& b : argument(state, instruction, 1)) {
      const bool dtypes = a.kind == Kind::kDtype && b.kind == Kind::kDtype;
      const std::optional<bool> are_one = compared_numbers("eq", a, b);
      const bool one_is_none = (a.kind == Kind::kNone) != (b.kind == Kind::kNone);
      const auto is_thing = [](const Alternative& x) {
        return x.kind != Kind::kNone && x.kind != Kind::kUnknown && x.kind != Kind::kTop &&
               x.kind != Kind::kReference;
      };
      bool same = true, different = true;
      if (dtypes && a.dtype != Dtype::kUndefined && b.dtype != Dtype::kUndefined) {
        same = a.dtype == b.dtype;
        different = !same;
      } else if (are_one) {
        same = *are_one;
        different = !same;
      } else if ((a.kind == Kind::kDtype && b.kind == Kind::kString) ||
                 (a.kind == Kind::kString && b.kind == Kind::kDtype)) {
        same = false;  // a name of a dtype is none
      } else if (a.kind == Kind::kNone && b.kind == Kind::kNone) {
        different = false;
      } else if (one_is_none && (is_thing(a) || is_thing(b))) {
        same = false;
      }
      may_be_equal = may_be_equal || same;
      may_differ = may_differ || different;
    }
  }
  std::optional<bool> known;
  if (may_be_equal != may_differ) known = may_be_equal == equal;
  return Value(Alternative::boolean(known));
}

// As strcmp has it: which of two that differ is first is not known.
static Value text_order(const Instruction& instruction, const State& state) {
  const std::optional<bool> same = truth(compare(instruction, state, true));
  if (!same) return Value(Alternative::integer(std::nullopt));
  return *same ? Value(Alternative::integer(0)) : Value({Alternative::integer(-1), Alternative::integer(1)});
}

// What the code and bits of a DLDataType of one lane say together.
static Value descriptor_dtype(const Instruction& instruction, const State& state) {
  const auto number = [&](std::size_t at) -> std::optional<std::uint8_t> {
    const Alternative* one = argument(state, instruction, at).single();
    if (!one || !is_scalar(*one) || !one->has_number || one->number < 0 || one->number > UINT8_MAX) return {};
    return static_cast<std::uint8_t>(one->number);
  };
  const auto code = number(0), bits = number(1);
  const auto dtype = code && bits ? from_dlpack({*code, *bits, 1}) : std::nullopt;
  return dtype ? Value(Alternative::a_dtype(*dtype)) : Value::unknown();
}

// Whether autocast is on, and what it casts to, where that is known.
std::optional<Value> Scalars::autocast_question(const Instruction& instruction, const State& state) const {
  if (!instruction.name.starts_with("autocast_")) return std::nullopt;
  const std::size_t split = instruction.name.find("::");
  const std::string what = instruction.name.substr(0, split);
  if (what != "autocast_dtype" && what != "autocast_enabled") return std::nullopt;
  const std::string device = split == std::string::npos ? "" : instruction.name.substr(split + 2);
  if (device == kElsewhere) return Value(Alternative::boolean(subject_.program.questions.states_precision()));
  // One that is computed, `q.device.type`, is that which is looked at, as where autocast is turned on.
  const bool is_of_analysis = device == subject_.options.device || device == "?";
  const auto elsewhere = state.autocast.elsewhere.find(device);
  if (!is_of_analysis && elsewhere == state.autocast.elsewhere.end()) return std::nullopt;
  const AutocastState& autocast = is_of_analysis ? state.autocast : elsewhere->second;
  if (what == "autocast_dtype") return Value(Alternative::a_dtype(autocast.dtype));
  const bool known = autocast.may_be_on != autocast.may_be_off;
  return Value(Alternative::boolean(known ? std::optional(autocast.may_be_on) : std::nullopt));
}

namespace {
// Of what is not known at all it is an answer, or one for each element.
bool is_open(const Value& given) {
  return std::any_of(given.begin(), given.end(), [](const Alternative& each) {
    return each.kind == Kind::kUnknown || each.kind == Kind::kTop;
  });
}

// What a handle refers to is a tensor, whatever unseen code made of it, unless it is a number.
bool holds_tensor(const State& state, const Alternative& each) {
  const HeapObject* held = each.kind == Kind::kHandle ? state.find(each.object) : nullptr;
  const Value contents = held ? shared_contents(state, Value(each)) : Value();
  return held && held->kind == HeapObject::Kind::kTensor &&
         std::none_of(contents.begin(), contents.end(),
                      [](const Alternative& one) { return one.kind == Kind::kNone || one.rank.wrapped; });
}
}  // namespace

// What is asked, of what, and what decides the answer.
struct Scalars::Asked {
  const Activation& activation;
  const Instruction& instruction;
  State& state;
  std::string name;  // without what qualifies it
  bool of_shape = false;
  bool has_tensor = false;
  bool has_unknown = false;
  bool has_text = false;
  bool all_scalar = false;
  SymbolSetId symbols = 0;

  const Value& operand(std::size_t at) const { return argument(state, instruction, at); }
  std::size_t count() const { return instruction.args.size(); }
};

Scalars::Asked Scalars::look_at(const Activation& activation, const Instruction& instruction, State& state) {
  const std::size_t qualified = instruction.name.rfind("::");
  Asked out{activation, instruction, state,
            qualified == std::string::npos ? instruction.name : instruction.name.substr(qualified + 2)};
  const ShapeQuestion* question = find_shape_question(out.name);
  out.of_shape = question && question->of_scalars;
  out.all_scalar = !instruction.args.empty();
  for (std::size_t i = 0; i < instruction.args.size(); ++i) {
    const Value& each = argument(state, instruction, i);
    for (const Alternative& one : each) {
      // What led a tensor here decides which it is, not how many elements it has.
      const bool is_tensor = one.kind == Kind::kTensor && !one.rank.wrapped;
      if (!is_tensor || !out.of_shape)
        out.symbols = symbols_.unite(out.symbols, symbols_.deciding(one.symbols));
      const HeapObject* object = one.kind == Kind::kObject ? state.find(one.object) : nullptr;
      if (object) out.symbols = symbols_.unite(out.symbols, object->symbols);
      out.all_scalar = out.all_scalar && is_scalar(one);
      out.has_text = out.has_text || one.kind == Kind::kString;
      out.has_tensor = out.has_tensor || holds_tensor(state, one);
      out.has_unknown = out.has_unknown || one.kind == Kind::kUnknown || one.kind == Kind::kTop;
    }
    for (const Alternative& one :
         each.is_bottom() ? std::vector<Alternative>{} : memory_.tensors(state, each)) {
      out.has_tensor = out.has_tensor || (one.kind == Kind::kTensor && !one.rank.wrapped);
    }
  }
  return out;
}

Value Scalars::decided_here(const Asked& asked, const Value& out) {
  std::vector<Alternative> alternatives = out.alternatives();
  for (Alternative& each : alternatives) {
    each.symbols = symbols_.unite(each.symbols, asked.symbols);
    each.context = asked.activation.context;
    each.source = asked.instruction.result;
  }
  return Value(std::move(alternatives));
}

// What it hangs on where nothing else is known to decide it.
SymbolSetId Scalars::itself(const Asked& asked) {
  return questions_.asked(asked.activation, asked.instruction, asked.state);
}

Value Scalars::fact(Asked& asked, std::optional<bool> known) {
  if (!known && !asked.symbols)
    asked.symbols = asked.all_scalar && !asked.has_text ? ids_.undecided() : itself(asked);
  return decided_here(asked, Value(Alternative::boolean(known)));
}

std::optional<Value> Scalars::logic(Asked& asked) {
  if (asked.has_tensor) return std::nullopt;
  if (asked.name == "logical_not") {
    const Value& operand = asked.operand(0);
    const auto known = truth(operand, asked.state, ids_);
    return with_truth(fact(asked, known ? std::optional(!*known) : std::nullopt),
                      opposite(truth_of(operand)));
  }
  if (asked.name != "logical_and" && asked.name != "logical_or") return std::nullopt;
  const bool deciding = asked.name == "logical_or";
  std::optional<bool> known = !deciding;
  for (std::size_t i = 0; i < asked.count(); ++i) {
    const auto one = truth(asked.operand(i), asked.state, ids_);
    if (one == deciding) return fact(asked, deciding);
    if (!one) known.reset();
  }
  return fact(asked, known);
}

// Whether there is a tensor, and whether it is of a floating type.
std::optional<Value> Scalars::of_tensor(Asked& asked) {
  if (asked.name == "defined" || asked.name == "has_value") {
    bool present = false;
    bool absent = false;
    for (const Alternative& each : memory_.tensors(asked.state, asked.operand(0))) {
      present = present || each.kind != Kind::kNone;
      absent = absent || each.kind == Kind::kNone || each.kind == Kind::kUnknown;
    }
    return fact(asked, present != absent ? std::optional(present) : std::nullopt);
  }
  if (asked.name != "is_floating_point") return std::nullopt;
  std::optional<bool> known;
  bool mixed = false;
  for (const Alternative& each : memory_.tensors(asked.state, asked.operand(0))) {
    const bool has_dtype = each.kind == Kind::kTensor && each.dtype != Dtype::kUndefined;
    if (!has_dtype || (known && *known != is_floating(each.dtype))) mixed = true;
    if (has_dtype) known = is_floating(each.dtype);
  }
  return fact(asked, mixed ? std::nullopt : known);
}

std::optional<Value> Scalars::of_text_or_two_numbers(Asked& asked) {
  if (asked.name == kTextOrder && asked.count() == 2) {
    const Value order = text_order(asked.instruction, asked.state);
    if (order.size() == 1 && !order.single()->has_number && !asked.symbols) asked.symbols = itself(asked);
    return decided_here(asked, order);
  }
  if (asked.name == kTextLength) {
    if (!asked.symbols) asked.symbols = itself(asked);
    return decided_here(asked, Value(Alternative::integer(std::nullopt)));
  }
  if ((asked.name != kSmallerOf && asked.name != kLargerOf) || asked.count() != 2) return std::nullopt;
  const Alternative* a = asked.operand(0).single();
  const Alternative* b = asked.operand(1).single();
  const bool known = a && b && a->has_number && b->has_number;
  if (!known) return decided_here(asked, Value(Alternative::integer(std::nullopt)));
  const auto [low, high] = std::minmax(a->number, b->number);
  return decided_here(asked, Value(Alternative::integer(asked.name == kSmallerOf ? low : high)));
}

std::optional<Value> Scalars::comparison(Asked& asked) {
  if (!compares(asked.name) || asked.count() != 2) return std::nullopt;
  const bool equates = asked.name == "eq" || asked.name == "ne";
  const auto compared_alike = [&] {
    return truth(compare(asked.instruction, asked.state, asked.name == "eq"));
  };
  const Alternative* b = asked.operand(1).single();
  if (asked.has_tensor) {  // a tensor against none asks whether it is there
    if (b && b->kind == Kind::kNone) return fact(asked, compared_alike());
    return std::nullopt;
  }
  if (const auto known = bounded_comparison(asked.activation, asked.state, asked.instruction))
    return fact(asked, known);
  if (equates && names_another_device(asked.operand(0), asked.operand(1), subject_.options.device))
    return fact(asked, asked.name == "ne");
  if (equates) {
    return with_truth(fact(asked, compared_alike()),
                      compared(asked.operand(0), asked.operand(1), asked.name == "eq"));
  }
  if (const auto known = compared_numbers(asked.name, asked.operand(0), asked.operand(1)))
    return fact(asked, known);
  const Value answer = fact(asked, std::nullopt);
  if (!is_open(asked.operand(0)) && !is_open(asked.operand(1))) return answer;
  std::vector<Alternative> out = answer.alternatives();
  for (Alternative& each : out) {
    if (!each.has_number) each.kind = Kind::kUnknown;
  }
  return Value(std::move(out));
}

std::optional<Value> Scalars::size_in_bytes(const Asked& asked) {
  if (!is_named(Named::kBytesOfElement, asked.name)) return std::nullopt;
  const std::vector<Alternative> of = memory_.tensors(asked.state, asked.operand(0));
  std::optional<std::int64_t> bytes;
  bool several = of.empty();
  for (const Alternative& each : of) {
    const bool has_dtype =
        (each.kind == Kind::kTensor || each.kind == Kind::kDtype) && each.dtype != Dtype::kUndefined;
    const std::int64_t own = has_dtype ? bits(each.dtype) / 8 : 0;
    several = several || !has_dtype || (bytes && *bytes != own);
    bytes = own;
  }
  return decided_here(asked, Value(Alternative::integer(several ? std::nullopt : bytes)));
}

std::optional<Value> Scalars::arithmetic(const Asked& asked) {
  if (!asked.all_scalar || asked.has_tensor || asked.has_unknown) return std::nullopt;
  bool real = is_named(Named::kRealOfIntegers, asked.name), handed_in = false;
  for (std::size_t i = 0; i < asked.count(); ++i)
    for (const Alternative& each : asked.operand(i)) {
      real = real || each.dtype == Dtype::kFloat64;
      handed_in = handed_in || each.handed_in;
    }
  const Operator* op = find_operator(asked.instruction.name);
  const bool gives_tensors =
      op && (op->result == ResultRule::kFactory || op->result == ResultRule::kFactoryFromValue ||
             op->result == ResultRule::kFixed || is_of_tensors_alone(*op));
  if (gives_tensors) return std::nullopt;
  // What a round of a loop counts is another number in the next.
  std::vector<const Value*> of;
  for (std::size_t i = 0; i < asked.count(); ++i) of.push_back(&asked.operand(i));
  const auto known = is_repeated(asked.activation) ? std::nullopt : computed_number(asked.name, of);
  Alternative out = known ? *known : real ? Alternative::real() : Alternative::integer(std::nullopt);
  out.handed_in = handed_in;
  return decided_here(asked, Value(out));
}

std::optional<Value> Scalars::scalar_operation(const Activation& activation, const Instruction& instruction,
                                               State& state) {
  if (instruction.name == "descriptor_dtype") return descriptor_dtype(instruction, state);
  if (instruction.name == kLoopEntered)
    return Value(Alternative::boolean(truth(argument(state, instruction, 0)).value_or(true)));
  if (instruction.args.empty()) {
    if (instruction.name == kDefaultDtype) {
      const Alternative known = Alternative::a_dtype(state.default_dtype);
      if (state.default_dtype != Dtype::kUndefined) return Value(known);
      // Beside float32 what is not known is taken to be no wider; this may be.
      Alternative wider = Alternative::a_dtype(Dtype::kFloat64);
      wider.uncertain = true;
      return Value({known, wider});
    }
    if (auto answer = autocast_question(instruction, state)) {
      // Outside autocast the device's own answers, whatever the setting.
      const bool is_asked = instruction.name.starts_with("autocast_dtype") && !state.autocast.assumed;
      if (is_asked) effects_.note_named(answer->begin()->dtype);
      return answer;
    }
  }
  Asked asked = look_at(activation, instruction, state);
  if (auto out = logic(asked)) return out;
  if (auto out = of_tensor(asked)) return out;
  if (auto out = of_text_or_two_numbers(asked)) return out;
  if (auto out = comparison(asked)) return out;
  if (auto out = size_in_bytes(asked)) return out;
  if (const auto known = asked.count() == 1 ? is_of_kind(asked.name, asked.operand(0), state) : std::nullopt)
    return fact(asked, known);
  const bool asks_for_other = asked.name == kAsksForOther;
  if (asks_for_other || asked.name == kAsksForTensor) {
    const bool are_other = are_other_objects(asked.operand(0), subject_.program.classes, state);
    if (asks_for_other || are_other) return fact(asked, asks_for_other && are_other);
  }
  if (instruction.name.starts_with(kIsInstance)) {
    const std::string_view of = std::string_view(instruction.name).substr(kIsInstance.size());
    return fact(asked, is_instance(asked.operand(0), of, subject_.program.classes, state));
  }
  if (const auto size =
          told_size(asked.name, instruction, state, memory_, {origins_, subject_.program.functions}))
    return Value(Alternative::integer(*size));
  if (asked.of_shape) {
    Alternative number = is_named(Named::kValueOfTensor, asked.name)
                             ? Alternative::real()
                             : ranks_.dimensions_asked(activation, asked.name, instruction, state);
    number.symbols = itself(asked);
    return decided_here(asked, Value(number));
  }
  return arithmetic(asked);
}

}  // namespace dtype_guard::flow
