// Processes in which a source could not look at what it watches, while it looked in others: the line of
// sources, which speaks of all processes together, says that it was on.
#pragma once

#include <string_view>
#include <vector>

#include "rules/report/report.h"
#include "sanitizer/symbolize/journal_content.h"

namespace dtype_guard::san {

// The reason of such an entry, whose `function` is empty and whose `detail` opens with the source.
inline constexpr std::string_view kSourceOff = "source-off";

std::vector<NotAnalysed> refused_sources(const std::vector<Journal>& journals);

}  // namespace dtype_guard::san
