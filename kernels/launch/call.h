// A Call is one entry into the library: it gives messages their prefix and keeps the last one of each thread.
// Nothing here allocates, so that an error can be reported when memory is short.
#pragma once

#include <cstddef>
#include <cstdint>

#include "flash_ref/flash_ref.h"

namespace flash_ref {

class Call {
 public:
  // Clears this thread's message.
  explicit Call(const char* api);

  // Records "API: MESSAGE" and returns `status`.
  int fail(flash_ref_status status, const char* format, ...) const __attribute__((format(printf, 3, 4)));

 private:
  const char* api_;
};

const char* last_message();

// A tuple as messages print it, "(2, 5, 4, 64)"; long ones are cut.
class TupleText {
 public:
  TupleText(const std::int64_t* values, int count);
  const char* c_str() const { return text_; }

 private:
  char text_[128];
};

}  // namespace flash_ref
