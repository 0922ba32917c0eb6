// The start test: a few small operators over memory of ours, with a callback that looks for the tensors in
// the record and in each other. What it finds fits this libtorch or the source stays off.
#pragma once

#include "sanitizer/platform/text_buffer.h"
#include "sanitizer/sources/torch/layout.h"
#include "sanitizer/sources/torch/library.h"

namespace dtype_guard::san::torch {

// Runs on a thread on which libtorch may be called, once in a process: the tensors that it makes stay. False
// with the reason.
bool probe(const Library& library, Layout& layout, TextSink& reason);

// One of those tensors, in float32, for more to be found out.
Tensor probe_tensor();

}  // namespace dtype_guard::san::torch
