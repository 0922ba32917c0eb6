// Lowering that ends: a file on which a front end never comes back is given up after a time, and the others
// go on.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "analyzer/source/lowered_source.h"

namespace dtype_guard::driver {

// Nothing when the time was up. The thread that is at it cannot be ended; leave the process by
// leave_process(), which does not wait for it. What `lower` refers to must outlive the process's other work.
std::optional<source::LoweredSource> lower_within(std::chrono::seconds limit,
                                                  std::function<source::LoweredSource()> lower);
// Ends the process with what was written so far, when a thread was given up; returns otherwise.
void leave_process(int status);

}  // namespace dtype_guard::driver
