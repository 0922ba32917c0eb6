// Fixes for findings: a cast back after the wide arithmetic, a cast of what a call is given, the assignment
// of a cast that was dropped. What is offered keeps the numerics and was tried on the IR.
#pragma once

#include <string>
#include <vector>

#include "analyzer/flow/analysis.h"
#include "analyzer/flow/edits/source_text.h"

namespace dtype_guard::flow {

// A finding for which a limit ended the search, or every edit that was tried broke something.
struct UnfinishedSearch {
  SourceLocation location;
  std::string rule;
  std::string limit;      // "more than 16 edits would have to be tried"
  std::string objection;  // without a limit: to the first edit that was tried
};

// Fills Finding::fixes of those for which an edit was found that cures them: the first that is not `refused`,
// by one who tried it on the text. `module`, which `program` is of, is changed on the way and changed back.
std::vector<UnfinishedSearch> offer_fixes(Module& module, const Program& program,
                                          const AnalysisOptions& options, const SourceText& text,
                                          std::vector<Finding>& findings,
                                          const std::vector<std::vector<Edit>>& refused = {});

}  // namespace dtype_guard::flow
