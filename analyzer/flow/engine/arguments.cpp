#include "analyzer/flow/engine/arguments.h"

#include <variant>

#include "analyzer/flow/engine/known_values.h"
#include "analyzer/flow/engine/speculation.h"

namespace dtype_guard::flow {

// Each thread counts the owners of its own.
static const Value& unknown() {
  static thread_local const Value value = Value::unknown();
  return value;
}

const Value& value(const State& state, ValueId id) {
  const Value& out = state.values[id];
  return out.is_bottom() ? unknown() : out;
}

const Value& argument(const State& state, const Instruction& instruction, std::size_t position) {
  return value(state, position < instruction.args.size() ? instruction.args[position].value : 0);
}

const Value* named(const State& state, const Instruction& instruction, std::string_view name) {
  for (const Argument& each : instruction.args) {
    if (each.name == name) return &value(state, each.value);
  }
  return nullptr;
}

Value constant(const Constant& constant, Effects& effects) {
  if (const auto* dtype = std::get_if<Dtype>(&constant)) effects.note_named(*dtype);
  struct Make {
    Value operator()(Unknown) const { return Value::unknown(); }
    Value operator()(None) const { return Value::none(); }
    Value operator()(bool value) const { return Value(Alternative::boolean(value)); }
    Value operator()(std::int64_t value) const { return Value(Alternative::integer(value)); }
    Value operator()(double value) const { return Value(real_number(value)); }
    Value operator()(const std::string& value) const { return Value(Alternative::text(value)); }
    Value operator()(Dtype value) const { return Value(Alternative::a_dtype(value)); }
  };
  return std::visit(Make{}, constant);
}

}  // namespace dtype_guard::flow
