// The analysis (analysis.h) by several threads.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/flow/analysis.h"

namespace dtype_guard::flow {

class Workers;

// The same answer as without them, sooner.
AnalysisResult analyse(const Program& program, const std::vector<std::uint32_t>& roots,
                       const AnalysisOptions& options, Workers& workers);

}  // namespace dtype_guard::flow
