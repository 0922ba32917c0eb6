// Whether what the program does with a module is to call it where autocast was turned on. By itself its
// forward is looked at without: a call that autocast recasts the operands of may be right wherever it is
// reached.
#pragma once

#include <cstdint>

#include "analyzer/flow/program/program.h"

namespace dtype_guard::flow {

// Each call of it is behind such a `with`, in its caller or in that one's callers; false where none is seen.
// Only in methods: what a script turns on is one way to run the model, what a model turns on is part of it.
bool is_called_under_autocast(std::uint32_t forward, const Program& program);

}  // namespace dtype_guard::flow
