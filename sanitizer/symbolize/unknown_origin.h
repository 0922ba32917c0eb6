// Notes on operands whose origin is not known although origins are noted: the tensor's shape, and where its
// memory was used first, as far as was seen.
#pragma once

#include <string>
#include <vector>

#include "rules/finding/finding.h"
#include "rules/report/report.h"
#include "sanitizer/symbolize/journal_content.h"
#include "sanitizer/symbolize/stacks.h"

namespace dtype_guard::san {

class UnknownOrigins {
 public:
  // A note for each such operand of a finding among the blamed roles.
  void note(const Finding& finding, const Journal& journal, const JournalFinding& recorded,
            const std::vector<std::string>& blamed, Stacks& stacks);
  // Adds them to the report, whose findings are those that were made, but for calls of which the report has
  // the origin at another time.
  void tell(Report& report) const;

 private:
  struct Note {
    Finding of;
    NotAnalysed entry;
  };
  std::vector<Note> notes_;
};

}  // namespace dtype_guard::san
