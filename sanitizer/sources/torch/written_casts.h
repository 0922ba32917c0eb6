// Attention that is written by hand and computed wide because the program casts q, k or v: no finding, for it
// is written, and a note with the cast's line. Counted by cast.
#pragma once

#include "sanitizer/journal/journal_writer.h"
#include "sanitizer/process/process.h"
#include "sanitizer/sources/torch/origin_chain.h"

namespace dtype_guard::san::torch {

// `chain` is that of the operand which a cast widened.
void note_written_cast(const OriginChain& chain);
void write_written_casts(Process& process, Scratch& scratch);
// In a forked child.
void forget_written_casts();

}  // namespace dtype_guard::san::torch
