// From summaries to findings: all files linked into one program and evaluated.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analyzer/driver/file_summary.h"
#include "analyzer/driver/options.h"
#include "analyzer/flow/edits/source_text.h"
#include "analyzer/flow/fixes/fix_search.h"
#include "analyzer/flow/program/program.h"
#include "rules/report/report.h"

namespace dtype_guard::flow {
class KeptGroups;
}

namespace dtype_guard::driver {

struct ProgramResult {
  std::vector<Finding> findings;
  std::vector<NotAnalysed> not_analysed;
  std::vector<CheckedCall> calls;
  std::vector<UnseenCall> unseen;
  std::vector<flow::UnfinishedSearch> without_fix;  // for want of budget
};

// What the engine is asked for: the versions that the summaries and options mean.
flow::AnalysisOptions analysis_options(const std::vector<FileSummary>& summaries, const Options& options);

// All files of a project as one, with what is known of all of it.
struct LinkedProgram {
  flow::Module module;
  std::unique_ptr<const flow::Program> program;
};
std::unique_ptr<LinkedProgram> linked_program(std::vector<flow::Module> modules);

// What went wrong with single files stands first, in their order.
// With the text of the sources, fixes are looked for as well: others than those that were refused. `kept`:
// what groups of roots gave in an earlier run; of this one, behind it.
ProgramResult analyse_program(std::vector<FileSummary> summaries, const Options& options,
                              const flow::SourceText& text = {},
                              const std::vector<std::vector<Edit>>& refused = {},
                              flow::KeptGroups* kept = nullptr);
// The same where the summaries' modules are linked already; `linked` is changed on the way and changed back.
ProgramResult analyse_linked(LinkedProgram& linked, const std::vector<FileSummary>& summaries,
                             const Options& options, const flow::SourceText& text = {},
                             const std::vector<std::vector<Edit>>& refused = {},
                             flow::KeptGroups* kept = nullptr);

}  // namespace dtype_guard::driver
