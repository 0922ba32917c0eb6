// The values that an instruction is given, by position and by name.
#pragma once

#include <cstddef>
#include <string_view>

#include "analyzer/flow/ir/ir.h"
#include "analyzer/flow/state/state.h"

namespace dtype_guard::flow {

struct Effects;

// Unknown where the instruction that makes it was not evaluated.
const Value& value(const State& state, ValueId id);
const Value& argument(const State& state, const Instruction& instruction, std::size_t position);
// Null where no argument has that name.
const Value* named(const State& state, const Instruction& instruction, std::string_view name);
// What a constant is as a value; that a half type was named is an effect.
Value constant(const Constant& constant, Effects& effects);

}  // namespace dtype_guard::flow
