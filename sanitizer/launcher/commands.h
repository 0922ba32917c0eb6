// The subcommands of dtype-san. Each takes what the command line said and gives the exit status; UsageError,
// LibraryError and MissingJournal go up to main, which prints them and ends with status 2.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sanitizer/runtime/options.h"

namespace dtype_guard::san {

struct RunArguments {
  std::vector<std::string> command;
  std::vector<std::string> formats;
  std::vector<std::string> options;  // "key=value:key=value"
  std::string journal;
  std::string library;
  std::string root;
  std::optional<int> error_exitcode;
  bool halt_on_error = false;
};
int run_command(const RunArguments& arguments);

struct ReportArguments {
  std::vector<std::string> journals;
  std::string root;
  std::vector<std::string> formats;
  std::vector<std::string> options;
  std::string baseline, write_baseline;
};
int report_command(const ReportArguments& arguments);

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

bool wants_color(Choice choice, int descriptor);

}  // namespace dtype_guard::san
