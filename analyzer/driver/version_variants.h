// Where the contracts tell versions of a library apart and nothing says which one a project means, each is
// tried, one library at a time; a finding that does not hold in all of them names those in which it does.
#pragma once

#include <vector>

#include "analyzer/driver/library_versions.h"
#include "analyzer/flow/analysis.h"
#include "analyzer/flow/edits/source_text.h"
#include "analyzer/flow/fixes/fix_search.h"
#include "analyzer/flow/program/program.h"

namespace dtype_guard::flow {
class KeptGroups;
}

namespace dtype_guard::driver {

struct AnalysedVersions {
  std::vector<Finding> findings;
  std::vector<flow::NotLowered> not_analysed;
  std::vector<flow::UnfinishedSearch> without_fix;
  std::vector<flow::ReachedCall> calls;  // as the newest versions have them
  std::vector<flow::UnseenCall> unseen;
  bool left_out = false;  // some roots, for want of work
};

// As they hold with the newest version of each library that may be meant.
ContractSet newest_contracts(const ContractSet& contracts, const LibraryVersions& versions);

// `program` is of the module. With the text of the sources, fixes are looked for as well. The options'
// contracts are those of all versions. `jobs`: how many threads. `kept`: what groups of roots gave in an
// earlier run, and will be of this.
AnalysedVersions analyse_versions(flow::Module& module, const flow::Program& program,
                                  const flow::AnalysisOptions& options, const LibraryVersions& versions,
                                  const flow::SourceText& text, const std::vector<std::vector<Edit>>& refused,
                                  unsigned jobs, flow::KeptGroups* kept = nullptr);

}  // namespace dtype_guard::driver
