// The values that an instruction is given, by position and by name.
#pragma once

#include <cstddef>
#include <string_view>

#include "analyzer/flow/ir/ir.h"
#include "analyzer/flow/state/state.h"

namespace dtype_guard::flow {

// Unknown where the instruction that makes it was not evaluated.
const Value& value(const State& state, ValueId id);
const Value& argument(const State& state, const Instruction& instruction, std::size_t position);
// Null where no argument has that name.
const Value* named(const State& state, const Instruction& instruction, std::string_view name);

}  // namespace dtype_guard::flow
