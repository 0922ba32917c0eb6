// Calls whose operands have no memory to read: traced, batched (vmap and the other transforms), nested or
// empty tensors. They are neither counted as calls nor checked, and told of by name.
#pragma once

#include "sanitizer/contracts/contract_table.h"
#include "sanitizer/journal/journal_writer.h"
#include "sanitizer/process/process.h"

namespace dtype_guard::san::torch {

void note_unread(const ApiContract& called);
void write_unread(Process& process, Scratch& scratch);
// In a forked child.
void forget_unread();

}  // namespace dtype_guard::san::torch
