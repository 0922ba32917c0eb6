// A job that ends while libtorch is called here: a job is joined at a moment of its own, and its end destroys
// what libtorch's operators need. So the end of the process waits, for some seconds at most, and where it has
// begun libtorch is not called.
#pragma once

#include "sanitizer/platform/text_buffer.h"

namespace dtype_guard::san::torch {

class JobGoesOn {
 public:
  JobGoesOn();
  ~JobGoesOn();
  JobGoesOn(const JobGoesOn&) = delete;
  JobGoesOn& operator=(const JobGoesOn&) = delete;
};

// Whether Python is being finalized in this process, or was, with libtorch's module in it.
bool is_python_ending(TextSink& reason);

}  // namespace dtype_guard::san::torch
