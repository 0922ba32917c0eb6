// A count for each rule that has open findings, the most frequent first (--statistics).
#pragma once

#include <iosfwd>

#include "rules/report/report.h"

namespace dtype_guard {

void write_statistics(std::ostream& out, const Report& report);

}  // namespace dtype_guard
