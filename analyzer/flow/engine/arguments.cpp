#include "analyzer/flow/engine/arguments.h"

namespace dtype_guard::flow {

const Value& value(const State& state, ValueId id) {
  static const Value unknown = Value::unknown();
  const Value& out = state.values[id];
  return out.is_bottom() ? unknown : out;
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

}  // namespace dtype_guard::flow
