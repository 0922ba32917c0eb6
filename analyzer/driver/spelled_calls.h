// Calls that are spelt like attention where nothing was lowered: in files with errors, and in Python that
// runs outside functions. Found in the text, since there is nothing else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/driver/file_summary.h"
#include "analyzer/flow/edits/source_text.h"
#include "rules/contracts/attention_names.h"
#include "rules/report/report.h"

namespace dtype_guard::driver {

// In the sources themselves, not in headers of theirs.
std::vector<UnseenCall> calls_not_lowered(const std::vector<FileSummary>& summaries,
                                          const ContractSet& contracts, const flow::SourceText& text);

struct SpelledCall {
  std::string_view name;  // into the text
  int line = 0;
  int column = 0;
};
// Calls in a text without comments and literals (rules/report/comments.h); definitions and declarations are
// none.
std::vector<SpelledCall> spelled_calls(std::string_view code, const AttentionNames& names);

}  // namespace dtype_guard::driver
