// The code of the helper thread that loads the library in the target. It is compiled here and copied there,
// so it refers to nothing outside its own section: no call, no constant, no stack protector.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/protocol/mailbox.h"

namespace dtype_guard::san {

// The code has the first page of what is mapped, the mailbox lies behind it.
inline constexpr std::uint64_t kMailboxAt = 4096;

struct HelperCode {
  const void* bytes;
  std::size_t size;
  std::size_t entry;             // offset of the function: void* helper(Mailbox*)
  std::size_t fork_handlers[3];  // offsets of void (): before a fork, after it, in the child
};
HelperCode helper_code();

}  // namespace dtype_guard::san
