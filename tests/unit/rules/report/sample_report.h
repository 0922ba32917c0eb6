// Reports that use every member, for the tests of the writers, the reader and the schema.
#pragma once

#include "rules/report/report.h"

namespace dtype_guard::test {

Report static_report();    // two open findings, one suppressed, one file not analysed
Report runtime_report();   // one finding with stacks, occurrences and what was watched
Report baseline_report();  // a new, an unchanged and a fixed finding
Report bad_utf8_report();  // every string holds bytes that are no UTF-8, quotes and control characters
Report large_report(std::size_t findings);  // with paths, over 50 files and four rules

}  // namespace dtype_guard::test
