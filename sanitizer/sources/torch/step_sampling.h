// Origins in some steps of a training job alone (option torch_every): a record of `Optimizer.step` ends a
// step, and origins are noted in the first and every n-th after it. What was made in other steps has none.
#pragma once

#include <cstdint>

#include "sanitizer/sources/torch/library.h"

namespace dtype_guard::san::torch {

// `every` is two or more; origins are on.
void start_step_sampling(const Library& library, std::uint64_t every);

}  // namespace dtype_guard::san::torch
