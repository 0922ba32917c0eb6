#include "analyzer/flow/program/function_effects.h"

#include <algorithm>

#include "analyzer/flow/program/half_conversions.h"
#include "rules/operators/precision_names.h"

namespace dtype_guard::flow {
namespace {

// What values are, and what becomes of them anywhere in the function.
class Values {
 public:
  explicit Values(const Function& code) : code_(code) {
    for (const Block& block : code.blocks) {
      for (const Instruction& each : block.instructions) note(each);
    }
  }
  enum : std::uint8_t { kOwn = 1, kConstant = 2, kConverted = 4, kWritten = 8, kHandedOut = 16 };
  bool is(ValueId value, std::uint8_t what) const { return value < all_.size() && (all_[value].is & what); }
  // The class of what a place begins with, as far as the function says; null where it does not.
  const std::string* class_of(const Place& place) const {
    if (!place.base) return class_of_variable(place.variable);
    if (place.base >= all_.size()) return nullptr;
    const Value& base = all_[place.base];
    return base.is_loaded ? class_of_variable(base.variable) : base.type;
  }

 private:
  void note(const Instruction& each) {
    const auto* index = each.op == Op::kParam ? std::get_if<std::int64_t>(&each.constant) : nullptr;
    if (index && is_of_object() && *index == 0) add(each.result, kOwn);
    const Parameter* parameter = index ? parameter_of(code_, each) : nullptr;
    if (parameter && parameter->kind == ParameterKind::kObject) at(each.result).type = &parameter->type;
    if (each.op == Op::kObject) at(each.result).type = &each.name;
    if (!each.place.base && each.place.path.empty()) note_variable(each);
    if (each.op == Op::kConst) add(each.result, kConstant);
    if (each.op == Op::kRetype && !each.args.empty()) add(each.args[0].value, kWritten);
    if (each.op == Op::kStore && each.place.path.empty()) add(each.place.base, kWritten);
    const bool converts = each.op == Op::kRetype || each.op == Op::kRegister;
    const bool hands_out = each.op == Op::kReturn || each.op == Op::kPack;
    if (!converts && !hands_out) return;
    for (const Argument& one : each.args) add(one.value, converts ? kConverted : kHandedOut);
  }
  bool is_of_object() const {
    return code_.kind == FunctionKind::kMethod || code_.kind == FunctionKind::kConstructor;
  }
  // One whose address is taken may hold anything.
  void note_variable(const Instruction& each) {
    const bool stores = each.op == Op::kStore && !each.args.empty();
    if (each.op == Op::kLoad) {
      at(each.result).is_loaded = true;
      at(each.result).variable = each.place.variable;
    }
    if (!stores && each.op != Op::kAddress) return;
    if (variables_.size() <= each.place.variable) variables_.resize(each.place.variable + 1);
    Variable& variable = variables_[each.place.variable];
    const std::string* stored = stores ? at(each.args[0].value).type : nullptr;
    const bool agree = stored && (!variable.is_stored || (variable.type && *variable.type == *stored));
    variable = {agree ? stored : nullptr, true};
  }
  const std::string* class_of_variable(VariableId variable) const {
    return variable < variables_.size() ? variables_[variable].type : nullptr;
  }
  void add(ValueId value, std::uint8_t what) { at(value).is |= what; }

  struct Value {
    std::uint8_t is = 0;
    bool is_loaded = false;  // of a variable
    VariableId variable = 0;
    const std::string* type = nullptr;  // a class
  };
  struct Variable {
    const std::string* type = nullptr;
    bool is_stored = false;
  };
  Value& at(ValueId value) {
    if (all_.size() <= value) all_.resize(value + 1);
    return all_[value];
  }

  const Function& code_;
  std::vector<Value> all_;  // by ValueId
  std::vector<Variable> variables_;
};

FieldAccess::Kind kind_of(Op op) {
  using Kind = FieldAccess::Kind;
  return op == Op::kLoad ? Kind::kLoad : op == Op::kStore ? Kind::kStore : Kind::kAddress;
}

FieldAccess access_of(const Instruction& each, const std::string& field, const Values& values,
                      bool is_first) {
  const std::vector<Place::Step>& path = each.place.path;
  FieldAccess out{&each, &field, kind_of(each.op)};
  const bool is_own = values.is(each.place.base, Values::kOwn);
  out.in_this = is_own && &path.front().field == &field;
  out.of_this = is_own && path.size() == 1;
  if (&path.front().field == &field) out.owner = values.class_of(each.place);
  out.is_constant = !each.args.empty() && values.is(each.args[0].value, Values::kConstant);
  out.is_first = is_first;
  out.is_converted = each.op == Op::kLoad && values.is(each.result, Values::kConverted);
  out.is_written = each.op == Op::kAddress && values.is(each.result, Values::kWritten);
  out.is_handed_out = each.op == Op::kAddress && values.is(each.result, Values::kHandedOut);
  return out;
}

// Turned on, or perhaps.
bool turns_autocast_on(const Instruction& each, const FunctionInfo& info) {
  if (each.op != Op::kSetAutocast) return false;
  return std::none_of(each.args.begin(), each.args.end(), [&](const Argument& one) {
    const Instruction* made = one.name == "on" ? info.definition(one.value) : nullptr;
    const bool* is_on = made && made->op == Op::kConst ? std::get_if<bool>(&made->constant) : nullptr;
    return is_on && !*is_on;
  });
}

bool makes_what_states_precision(const Instruction& each) {
  return (each.op == Op::kCall || each.op == Op::kObject) && dtype_guard::states_precision(each.name);
}

}  // namespace

FunctionEffects::FunctionEffects(const Function& code, const FunctionInfo& info)
    : may_make_half(may_convert_to_half(code, info)),
      may_name_half(flow::may_name_half(code)),
      states_precision(may_make_half) {
  const Values values(code);
  for (const Block& block : code.blocks) {
    for (const Instruction& each : block.instructions) {
      const bool is_access = each.op == Op::kLoad || each.op == Op::kStore || each.op == Op::kAddress;
      if (const std::string* field = is_access ? each.place.last_field() : nullptr)
        fields.push_back(access_of(each, *field, values, &block == &code.blocks.front()));
      if (each.op == Op::kObject) makes.push_back(&each);
      if (each.op == Op::kSetAutocast) autocasts.push_back(&each);
      if (each.op == Op::kCall || each.op == Op::kClosure) runs.push_back(&each);
      asks_for_dtypes = asks_for_dtypes || each.op == Op::kDtypeOf;
      states_precision =
          states_precision || turns_autocast_on(each, info) || makes_what_states_precision(each);
      names_dtypes = names_dtypes || each.op == Op::kDtypeOf || std::holds_alternative<Dtype>(each.constant);
    }
  }
}

}  // namespace dtype_guard::flow
