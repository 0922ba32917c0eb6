// What the table of tensor operators does not know: comparisons of dtypes and numbers, logic, arithmetic on
// numbers, and questions about a tensor (dim, size, defined). Their results carry the symbols that decide
// them.
#include "analyzer/flow/engine/operations/scalars.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "analyzer/flow/engine/arguments.h"
#include "analyzer/flow/engine/conditions/bounds.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
constexpr std::array<std::string_view, 14> kQuestions = {
    "dim",    "size",    "sizes",   "sym_sizes", "numel",         "ndimension", "length",
    "stride", "strides", "is_cuda", "is_cpu",    "is_contiguous", "item",       "get_device"};
constexpr std::array<std::string_view, 6> kComparisons = {"eq", "ne", "lt", "le", "gt", "ge"};

bool is_scalar(const Alternative& each) {
  return each.kind == Kind::kNumber || each.kind == Kind::kBool || each.kind == Kind::kString;
}
template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
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

std::optional<bool> constant_comparison(std::string_view name, std::int64_t a, std::int64_t b) {
  if (name == "eq") return a == b;
  if (name == "ne") return a != b;
  if (name == "lt") return a < b;
  if (name == "le") return a <= b;
  if (name == "gt") return a > b;
  return a >= b;
}
}  // namespace

static Value compare(const Instruction& instruction, const State& state, bool equal) {
  bool may_be_equal = false;
  bool may_differ = false;
  for (const Alternative& a : argument(state, instruction, 0)) {
    for (const Alternative& b : argument(state, instruction, 1)) {
      const bool dtypes = a.kind == Kind::kDtype && b.kind == Kind::kDtype;
      const bool numbers = is_scalar(a) && is_scalar(b) && a.has_number && b.has_number;
      const bool one_is_none = (a.kind == Kind::kNone) != (b.kind == Kind::kNone);
      const auto is_thing = [](const Alternative& x) {
        return x.kind != Kind::kNone && x.kind != Kind::kUnknown && x.kind != Kind::kTop &&
               x.kind != Kind::kReference;
      };
      bool same = true;
      bool different = true;
      if (dtypes && a.dtype != Dtype::kUndefined && b.dtype != Dtype::kUndefined) {
        same = a.dtype == b.dtype;
        different = !same;
      } else if (numbers) {
        same = a.number == b.number;
        different = !same;
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
  const std::size_t split = instruction.name.find("::");
  const std::string what = instruction.name.substr(0, split);
  if (what != "autocast_dtype" && what != "autocast_enabled") return std::nullopt;
  const std::string device = split == std::string::npos ? "" : instruction.name.substr(split + 2);
  const auto elsewhere = state.autocast.elsewhere.find(device);
  if (device != device_ && elsewhere == state.autocast.elsewhere.end()) return std::nullopt;
  const AutocastState& autocast = device == device_ ? state.autocast : elsewhere->second;
  if (what == "autocast_dtype") return Value(Alternative::a_dtype(autocast.dtype));
  const bool known = autocast.may_be_on != autocast.may_be_off;
  return Value(Alternative::boolean(known ? std::optional(autocast.may_be_on) : std::nullopt));
}

std::optional<Value> Scalars::scalar_operation(const Activation& activation, const Instruction& instruction,
                                               State& state) {
  if (instruction.name == "descriptor_dtype") return descriptor_dtype(instruction, state);
  if (instruction.name == kLoopEntered)
    return Value(Alternative::boolean(truth(argument(state, instruction, 0)).value_or(true)));
  if (instruction.args.empty()) {
    if (instruction.name == "default_dtype") return Value(Alternative::a_dtype(state.default_dtype));
    if (auto answer = autocast_question(instruction, state)) {
      // Outside autocast the device's own answers, whatever the setting.
      const bool is_asked = instruction.name.starts_with("autocast_dtype") && !state.autocast.assumed;
      if (is_asked) effects_.note_named(answer->begin()->dtype);
      return answer;
    }
  }
  const std::size_t qualified = instruction.name.rfind("::");
  const std::string name =
      qualified == std::string::npos ? instruction.name : instruction.name.substr(qualified + 2);
  const bool of_shape = is_one_of(kQuestions, name);
  bool has_tensor = false;
  bool has_unknown = false;
  bool has_text = false;
  bool all_scalar = !instruction.args.empty();
  SymbolSetId symbols = 0;
  for (std::size_t i = 0; i < instruction.args.size(); ++i) {
    const Value& each = argument(state, instruction, i);
    for (const Alternative& one : each) {
      // What led a tensor here decides which it is, not how many elements it has.
      const bool is_tensor = one.kind == Kind::kTensor && !one.rank.wrapped;
      if (!is_tensor || !of_shape) symbols = symbols_.unite(symbols, symbols_.deciding(one.symbols));
      const HeapObject* object = one.kind == Kind::kObject ? state.find(one.object) : nullptr;
      if (object) symbols = symbols_.unite(symbols, object->symbols);
      all_scalar = all_scalar && is_scalar(one);
      has_text = has_text || one.kind == Kind::kString;
      has_unknown = has_unknown || one.kind == Kind::kUnknown || one.kind == Kind::kTop;
    }
    for (const Alternative& one :
         each.is_bottom() ? std::vector<Alternative>{} : memory_.tensors(state, each)) {
      has_tensor = has_tensor || (one.kind == Kind::kTensor && !one.rank.wrapped);
    }
  }
  const auto decided_here = [&](Value out) {
    std::vector<Alternative> alternatives = out.alternatives();
    for (Alternative& each : alternatives) {
      each.symbols = symbols_.unite(each.symbols, symbols);
      each.context = activation.context;
      each.source = instruction.result;
    }
    return Value(std::move(alternatives));
  };
  const auto fact = [&](std::optional<bool> known) {
    if (!known && !symbols)
      symbols = all_scalar && !has_text ? ids_.undecided() : questions_.asked(activation, instruction, state);
    return decided_here(Value(Alternative::boolean(known)));
  };
  // Of what is not known at all it is an answer, or one for each element.
  const auto compared_unknown = [&](const Value& answer) {
    const auto is_open = [](const Alternative& each) {
      return each.kind == Kind::kUnknown || each.kind == Kind::kTop;
    };
    const auto has_open = [&](const Argument& each) {
      const Value& given = value(state, each.value);
      return std::any_of(given.begin(), given.end(), is_open);
    };
    if (std::none_of(instruction.args.begin(), instruction.args.end(), has_open)) return answer;
    std::vector<Alternative> out = answer.alternatives();
    for (Alternative& each : out) {
      if (!each.has_number) each.kind = Kind::kUnknown;
    }
    return Value(std::move(out));
  };

  if (name == "logical_not" && !has_tensor) {
    const Value& asked = argument(state, instruction, 0);
    const auto known = truth(asked);
    return with_truth(fact(known ? std::optional(!*known) : std::nullopt), opposite(truth_of(asked)));
  }
  if ((name == "logical_and" || name == "logical_or") && !has_tensor) {
    const bool deciding = name == "logical_or";
    std::optional<bool> known = !deciding;
    for (std::size_t i = 0; i < instruction.args.size(); ++i) {
      const auto one = truth(argument(state, instruction, i));
      if (one == deciding) return fact(deciding);
      if (!one) known.reset();
    }
    return fact(known);
  }
  if (name == "defined" || name == "has_value") {
    bool present = false;
    bool absent = false;
    for (const Alternative& each : memory_.tensors(state, argument(state, instruction, 0))) {
      present = present || each.kind != Kind::kNone;
      absent = absent || each.kind == Kind::kNone || each.kind == Kind::kUnknown;
    }
    return fact(present != absent ? std::optional(present) : std::nullopt);
  }
  if (name == "is_floating_point") {
    std::optional<bool> known;
    bool mixed = false;
    for (const Alternative& each : memory_.tensors(state, argument(state, instruction, 0))) {
      const bool has_dtype = each.kind == Kind::kTensor && each.dtype != Dtype::kUndefined;
      if (!has_dtype || (known && *known != is_floating(each.dtype))) mixed = true;
      if (has_dtype) known = is_floating(each.dtype);
    }
    return fact(mixed ? std::nullopt : known);
  }
  if (name == kTextOrder && instruction.args.size() == 2) {
    const Value order = text_order(instruction, state);
    if (order.size() == 1 && !order.single()->has_number && !symbols)
      symbols = questions_.asked(activation, instruction, state);
    return decided_here(order);
  }
  if (name == kTextLength) {
    if (!symbols) symbols = questions_.asked(activation, instruction, state);
    return decided_here(Value(Alternative::integer(std::nullopt)));
  }
  if ((name == kSmallerOf || name == kLargerOf) && instruction.args.size() == 2) {
    const Alternative* a = argument(state, instruction, 0).single();
    const Alternative* b = argument(state, instruction, 1).single();
    const bool known = a && b && a->has_number && b->has_number;
    if (!known) return decided_here(Value(Alternative::integer(std::nullopt)));
    const auto [low, high] = std::minmax(a->number, b->number);
    return decided_here(Value(Alternative::integer(name == kSmallerOf ? low : high)));
  }
  if (is_one_of(kComparisons, name) && instruction.args.size() == 2 && !has_tensor) {
    if (const auto known = bounded_comparison(activation, state, instruction)) return fact(known);
    if (name == "eq" || name == "ne") {
      const Value& a = argument(state, instruction, 0);
      const Value& b = argument(state, instruction, 1);
      return with_truth(fact(truth(compare(instruction, state, name == "eq"))), compared(a, b, name == "eq"));
    }
    const Alternative* a = argument(state, instruction, 0).single();
    const Alternative* b = argument(state, instruction, 1).single();
    if (a && b && a->has_number && b->has_number)
      return fact(constant_comparison(name, a->number, b->number));
    return compared_unknown(fact(std::nullopt));
  }
  if (is_one_of(kComparisons, name) && instruction.args.size() == 2) {
    // A tensor against none asks whether it is there.
    const Alternative* b = argument(state, instruction, 1).single();
    if (b && b->kind == Kind::kNone) return fact(truth(compare(instruction, state, name == "eq")));
  }
  if (name == "element_size" || name == "itemsize") {
    const std::vector<Alternative> of = memory_.tensors(state, argument(state, instruction, 0));
    std::optional<std::int64_t> bytes;
    bool several = of.empty();
    for (const Alternative& each : of) {
      const bool has_dtype =
          (each.kind == Kind::kTensor || each.kind == Kind::kDtype) && each.dtype != Dtype::kUndefined;
      const std::int64_t own = has_dtype ? bits(each.dtype) / 8 : 0;
      several = several || !has_dtype || (bytes && *bytes != own);
      bytes = own;
    }
    return decided_here(Value(Alternative::integer(several ? std::nullopt : bytes)));
  }
  if (of_shape) {
    Alternative number =
        name == "item" ? Alternative::real() : ranks_.dimensions_asked(name, instruction, state);
    number.symbols = questions_.asked(activation, instruction, state);
    return decided_here(Value(number));
  }
  if (all_scalar && !has_tensor && !has_unknown) {
    bool real = name == "div" || name == "exp" || name == "log" || name == "sqrt";
    for (std::size_t i = 0; i < instruction.args.size(); ++i) {
      for (const Alternative& each : argument(state, instruction, i))
        real = real || each.dtype == Dtype::kFloat64;
    }
    const Operator* op = find_operator(instruction.name);
    const bool factory =
        op && (op->result == ResultRule::kFactory || op->result == ResultRule::kFactoryFromValue ||
               op->result == ResultRule::kFixed);
    if (!factory) return decided_here(Value(real ? Alternative::real() : Alternative::integer(std::nullopt)));
  }
  return std::nullopt;
}

}  // namespace dtype_guard::flow
