// Libraries that a job has something else in the place of: a package that computes by other means under the
// names of flash-attn says so by an operator `stand_in::flash_attn`, which it calls with its own. The journal
// has it among the calls whose operands were not looked at.
#pragma once

#include "sanitizer/journal/journal_writer.h"
#include "sanitizer/process/process.h"

namespace dtype_guard::san::torch {

// The name of an operator that is seen for the first time; nothing for others. The journal has it at once,
// for a job that is killed.
void note_stand_in(const char* operator_name);
// Those that this process's journal lacks: at its end, and before a finding of a forked child.
void write_stand_ins(Process& process, Scratch& scratch);

}  // namespace dtype_guard::san::torch
