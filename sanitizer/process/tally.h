// This process's part in the tally of `dtype-san run` (tally_page.h); without one nothing is counted.
#pragma once

#include "sanitizer/protocol/tally_page.h"

namespace dtype_guard::san {

// Maps the page that the environment names, once, when the library is loaded.
void open_tally();

// nullptr when this process was not started by `dtype-san run`. A forked child shares it.
TallyPage* tally();

// Keeps the first reason; `error` is a negative errno.
void keep_reason(std::atomic<std::uint32_t>& reason, long error);

}  // namespace dtype_guard::san
