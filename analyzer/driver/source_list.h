// The files that one run looks at, with their compile commands.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "analyzer/source/lowered_source.h"
#include "analyzer/source/user_code.h"
#include "rules/report/report.h"

namespace dtype_guard::driver {

// A header that was asked for, and what may include it, the nearest first.
struct CarriedHeader {
  std::string file;    // absolute
  bool named = false;  // by itself, not with all of a folder
  std::vector<source::CompileCommand> users;
};

struct SourceList {
  std::vector<source::CompileCommand> commands;  // in order of file name; those of Python have no arguments
  source::UserCode user_code;
  // As the report names them: files that were asked for and have no command, and those that are looked at for
  // their sake alone.
  std::vector<std::string> headers;
  std::set<std::string> carriers;
  std::vector<CarriedHeader> carried;        // the same headers, until it is known who includes them
  std::vector<NotAnalysed> missing;          // named beside others, and without a command
  std::vector<std::string> notes;            // what was taken for granted, told before the report
  std::vector<NotAnalysed> not_built;        // C++ of a folder that has no compile database; no failure
  std::set<std::string> python_patterns;     // SOURCEs that stand for Python files, whatever else
  std::map<std::string, std::string> texts;  // of sources that are not on disk, by absolute path
};

}  // namespace dtype_guard::driver
