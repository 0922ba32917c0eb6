// What one run of dtype-lint is asked for.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/driver/changed_lines.h"
#include "analyzer/driver/library_versions.h"
#include "analyzer/driver/rule_filter.h"
#include "analyzer/flow/analysis.h"
#include "rules/contracts/contract.h"
#include "rules/finding/finding.h"
#include "rules/report/baseline.h"
#include "rules/report/format.h"

namespace dtype_guard::clang_front_end {
class Preambles;
}

namespace dtype_guard::driver {

struct ReportTarget {
  const OutputFormat* format = find_format("text");
  std::string file;  // empty: standard output
};
enum class FailOn : std::uint8_t { kError, kWarning, kNever };
enum class Color : std::uint8_t { kAuto, kAlways, kNever };

struct Options {
  std::vector<std::string> sources;               // as written
  std::string database;                           // -p; empty: looked for
  std::optional<std::vector<std::string>> flags;  // after --
  std::string root;
  std::vector<flow::PrecisionSetting> settings;
  bool settings_named = false;
  std::vector<std::string> torch_versions;  // ascending; empty: as the headers say
  std::string device = "cuda";
  bool device_named = false;
  ContractSet contracts;
  std::vector<std::string> contract_files;  // of the user's own
  RuleFilter rules;
  struct ForFiles {
    std::vector<std::string> patterns;  // of absolute names
    RuleFilter rules;
  };
  std::vector<ForFiles> file_rules;  // besides
  bool strict = false;
  FailOn fail_on = FailOn::kWarning;
  std::vector<ReportTarget> reports;
  std::string baseline, write_baseline;  // files
  std::optional<Baseline> known;         // what `baseline` holds
  std::string diff_base;                 // a revision of git; empty: all findings
  std::optional<ChangedLines> changed;   // since then, once the project is known
  bool statistics = false;
  bool fix = false;
  std::string export_fixes;  // file; empty: none
  unsigned jobs = 1;
  std::vector<std::string> exclude;        // patterns of absolute paths (config.h)
  std::vector<std::string> external;       // likewise
  std::string config_folder, config_root;  // of the configuration, and of the outermost that it inherits
  std::string stdin_file;                  // the source that comes from standard input, absolute; empty: none
  std::string cache;                       // folder; empty: none
  std::string rules_hash;                  // what summaries are written for
  std::string emit_summary;                // file; empty: a report
  std::string depfile;                     // file; empty: none
  std::vector<std::string> link;           // summaries to report on instead of sources
  std::string python;                      // an environment or its interpreter; empty: .venv of the project
  std::map<std::string, std::string> libraries;  // versions by --library
  std::vector<std::string> packages;             // folders such as site-packages, once the project is known
  LibraryVersions versions;                      // likewise
  unsigned time_limit = 300;                     // seconds for one file
  std::vector<std::string> extra_arguments;
  bool dump_flow = false;
  bool lsp = false;                                       // answers an editor instead of reporting
  flow::RootMemo* memo = nullptr;                         // of an editor's project
  std::shared_ptr<clang_front_end::Preambles> preambles;  // of the files that are edited there
  // Before each function that is evaluated, with its file; may throw to end the run.
  std::function<void(const std::string& file)> before_root;
  Color color = Color::kAuto;
  bool quiet = false;
};

}  // namespace dtype_guard::driver
