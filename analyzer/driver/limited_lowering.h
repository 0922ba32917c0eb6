// Lowering that ends: a file on which Clang never comes back is given up after a time, and the others go on.
#pragma once

#include <chrono>
#include <optional>

#include "analyzer/clang/front_end.h"

namespace dtype_guard::driver {

// Nothing when the time was up. The thread that is at it cannot be ended; leave the process by
// leave_process(), which does not wait for it, and keep alive what the options point to.
std::optional<source::LoweredSource> lower_within(std::chrono::seconds limit,
                                                  const source::CompileCommand& command,
                                                  const clang_front_end::LoweringOptions& options);
// Ends the process with what was written so far, when a thread was given up; returns otherwise.
void leave_process(int status);

}  // namespace dtype_guard::driver
