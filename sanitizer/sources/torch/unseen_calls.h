// Calls that only pybind makes: of the extension modules of unseen_modules.inc the functions are led through
// counters, once the module is made, so that a run says by name which kernels were called unseen. A call from
// inside a watched one is part of that, and not counted.
#pragma once

#include <string_view>

#include "sanitizer/journal/journal_writer.h"
#include "sanitizer/process/process.h"

namespace dtype_guard::san::torch {

bool is_unseen_module(const char* symbol);
// For Python's lookup of such a `PyInit_NAME`: what it is to call in place of `function`, nullptr for none.
void* watch_module(const char* symbol, void* function);

void write_unseen(Process& process, Scratch& scratch);
// In a forked child.
void forget_unseen();

}  // namespace dtype_guard::san::torch
