// What autocast has cast inside calls whose operands differ in dtype: no finding, for the kernel gets what it
// takes, and a note with its cost, since each cast reads and writes the operand. Counted by place.
#pragma once

#include <cstdint>

#include "sanitizer/journal/journal_writer.h"
#include "sanitizer/process/process.h"
#include "sanitizer/sources/torch/call_operands.h"
#include "sanitizer/sources/torch/operators.h"

namespace dtype_guard::san::torch {

// `written` are the operands of the call, `got` those of the record inside it.
void note_recast(const Operator& op, const ApiContract& contract, const CallOperands& written,
                 const CallOperands& got);
void write_recasts(Process& process, Scratch& scratch);
// In a forked child.
void forget_recasts();

}  // namespace dtype_guard::san::torch
