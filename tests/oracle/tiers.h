// Tiers of programs. In one of tier A few things are open, and what must hold is asked of it without an
// exception: its root takes tensors, bools, numbers and dtypes, and code that is not there gives back
// anything of its type. Programs of tier B are made for what the engine assumes of programs (assumptions.md):
// their runs may be other than is assumed, and such runs are left out.
#pragma once

#include <cstddef>

#include "analyzer/flow/ir/ir.h"
#include "tests/oracle/recipe.h"

namespace dtype_guard::oracle {

// What a run decides, and a condition may ask for: a bool, a number or an optional tensor that the root is
// handed, how many dimensions or elements something has, what code that is not there gives back, whether a
// range has one more element or a block throws. That an input is checked for its dimensions at once leaves
// nothing open.
bool is_open_atom(const flow::Function& function, const flow::Instruction& each);
std::size_t open_atoms(const flow::Module& module);

}  // namespace dtype_guard::oracle
