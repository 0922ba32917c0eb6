// The code of the helper thread that loads the library in the target. It is compiled here and copied there,
// so it refers to nothing outside its own section: no call, no constant, no stack protector.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/protocol/mailbox.h"

namespace dtype_guard::san {

struct HelperCode {
  const void* bytes;
  std::size_t size;
  std::size_t entry;  // offset of the function: void* helper(Mailbox*)
};
HelperCode helper_code();

}  // namespace dtype_guard::san
