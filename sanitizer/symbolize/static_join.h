// Puts a static report and a run beside each other: each static finding is then confirmed by the run (with
// its count and stack), contradicted (the call was seen there, with dtypes that it takes), not reached, or
// unknown: that API was not watched from start to end, or something is missing from what was seen. They meet
// at the call: API, file and function of the sink, the line as tie-breaker, whichever rule names it. In
// Python the function, with its class, has to agree: one line does not join two.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "rules/report/report.h"

namespace dtype_guard::san {

// A place from which a watched API was called and which its contract allowed.
struct AcceptedCall {
  std::string api;
  std::vector<StackFrame> stack;
};

// Adds the findings of `lint` to the run's `report`; a confirmed pair becomes one finding, which has the
// static one's location, path and fixes and the run's stack, count and occurrences.
void join_static(Report& report, const Report& lint, const std::vector<AcceptedCall>& accepted);

}  // namespace dtype_guard::san
