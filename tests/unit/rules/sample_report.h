// Reports that use every member, for the tests of the writers, the reader and the schema.
#pragma once

#include "rules/report/report.h"

namespace dtype_guard::test {

Report static_report();   // two open findings, one suppressed, one file not analysed
Report runtime_report();  // one finding with stacks, occurrences and what was watched

}  // namespace dtype_guard::test
