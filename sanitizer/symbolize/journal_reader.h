// Reads a journal back. A journal comes from a process that may have been killed, from a full disk or from a
// copy that was cut short, so the reader goes on after damage, keeps every frame whose checksum holds, and
// says exactly what it skipped and where.
#pragma once

#include <string>
#include <string_view>

#include "sanitizer/symbolize/journal_content.h"

namespace dtype_guard::san {

Journal read_journal(std::string_view bytes, const std::string& file);

// From disk; a file that cannot be opened is a journal with a problem.
Journal load_journal(const std::string& file);

}  // namespace dtype_guard::san
