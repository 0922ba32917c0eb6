// What an attach leaves in a process when it was ended after the pause: a helper thread that waits to be let
// go, or that loads the library at this moment. The next attach finishes it.
#pragma once

#include <cstdint>
#include <optional>

#include "sanitizer/attach/process_facts.h"

namespace dtype_guard::san {

struct PendingJoin {
  std::uint64_t mailbox_at = 0;
  bool is_loading = false;  // the helper was let go, with the options of the attach that was ended
};

std::optional<PendingJoin> find_pending_join(const ProcessFacts& process);

}  // namespace dtype_guard::san
