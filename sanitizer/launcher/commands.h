// The subcommands of dtype-san. Each takes what the command line said and gives the exit status; UsageError,
// LibraryError and MissingJournal go up to main, which prints them and ends with status 2.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "sanitizer/settings/options.h"
#include "sanitizer/symbolize/findings.h"

namespace dtype_guard::san {

struct RunArguments {
  std::vector<std::string> command;
  std::vector<std::string> formats;
  std::vector<std::string> options;  // "key=value:key=value"
  std::vector<std::string> contracts;
  std::string journal;
  std::string library;
  std::string root;
  std::optional<int> error_exitcode;
  bool halt_on_error = false;
  bool require_calls = false;
  std::string frames;
};
int run_command(const RunArguments& arguments);

struct ReportArguments {
  std::vector<std::string> journals;
  std::string with;     // a report of dtype-lint, JSON
  std::string sysroot;  // where the files of another machine are looked for
  std::vector<std::string> contracts;
  std::string root;
  std::vector<std::string> formats;
  std::vector<std::string> options;
  bool require_calls = false;
  std::string baseline, write_baseline;
  std::string frames;
};
int report_command(const ReportArguments& arguments);

struct AttachArguments {
  std::string pid;
  std::vector<std::string> options;
  std::string library;
};
// Puts the library into a running process, or switches it on where it is already.
int attach_command(const AttachArguments& arguments);
// detach, off: nothing is looked at any more; on: it is again. The library stays where it is.
int switch_command(const std::string& pid, bool on);

struct DoctorArguments {
  std::string pid;
  std::vector<std::string> command;
  std::string library;
};
// Status 1 when the process or command cannot be watched.
int doctor_command(const DoctorArguments& arguments);

// Throws UsageError.
pid_t parse_pid(const std::string& text);

// The catalog's page of a rule.
int explain_command(const std::string& rule);

// $DTYPE_SAN_OPTIONS and --options as one text, parsed. Throws UsageError naming every key and value that is
// not understood.
struct CombinedOptions {
  std::string text;
  Options values;
};
CombinedOptions combine_options(const std::vector<std::string>& given);

// The folder that files are shown relative to: --root, else the current one. Throws UsageError when it is
// none.
std::string report_root(const std::string& wanted);

// The canonical path of a folder that an option names; "" for none. Throws UsageError when it is no folder.
std::string existing_folder(const char* option, const std::string& wanted);

// What the options say about the report. Throws UsageError for rules, suppressions or APIs that cannot be
// used.
ReportSettings report_settings(const Options& options, const std::string& root, const ContractSet& own);

// Throws UsageError for a word of the option `expect` that is no API of ours, of `own` or of the journals,
// and no backend.
void check_expected(const Options& options, const ContractSet& own, const std::vector<Journal>& journals);

// The status of --require-calls: 3, with a word on stderr, when a watched or an expected API was not called;
// else 0.
int missing_calls(const Report& report);

// A finding that is not suppressed.
bool has_open_findings(const Report& report);

bool wants_color(Choice choice, int descriptor);

}  // namespace dtype_guard::san
