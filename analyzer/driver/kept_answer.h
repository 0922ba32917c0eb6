// What a whole run came to, kept for the next: while no file that it rests on differs, nothing is read,
// linked or evaluated again. What the report makes of it (rules, comments, baselines, formats) is made anew.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/driver/cache.h"
#include "analyzer/driver/file_summary.h"
#include "analyzer/driver/options.h"
#include "analyzer/driver/reporting.h"
#include "analyzer/driver/source_list.h"

namespace dtype_guard::driver {

struct KeptAnswer {
  std::vector<FileSummary> summaries;  // without what stands in the files
  ProgramAnswer answer;
};

// Refers to what it is made from.
class KeptAnswers {
 public:
  KeptAnswers(const Options& options, const SourceList& sources, Cache& cache);
  std::optional<KeptAnswer> find();
  // Where all that it rests on is known, and is still as it was read.
  void keep(const KeptAnswer& answer);
  // What roots gave, in whichever state the files were.
  bool are_kept() const { return !key_.empty(); }
  void find_groups(flow::KeptGroups& groups);
  void keep_groups(const flow::KeptGroups& groups);

 private:
  Cache& cache_;
  std::string key_;  // empty: this run is not kept
};

// What a report needs of summaries besides the answer.
std::vector<FileSummary> without_code(const std::vector<FileSummary>& summaries);

}  // namespace dtype_guard::driver
