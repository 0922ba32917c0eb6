// What a run is told of a project, and what is wrong with its files.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rules/contracts/contract.h"

namespace dtype_guard::python {

struct SourceError {
  std::string file;  // as the report names it
  int line = 0;      // from 1; 0: of the file as a whole
  int column = 0;
  std::string message;
};

struct ProjectOptions {
  std::string root;                          // absolute; report names are relative to it
  const ContractSet* contracts = nullptr;    // the calls that are sinks; null: those built in
  std::map<std::string, std::string> texts;  // of files that are not on disk (as yet), by absolute path
  std::vector<std::string> packages;         // folders such as site-packages, where imports end
  // Files of the project that the run lowers, absolute: what they import of others is lowered with them.
  // None: all files of the project.
  std::optional<std::set<std::string>> looked_at;
  std::size_t largest = std::size_t{8} << 20;  // bytes; a larger file is an error of its own
  int seconds = 60;                            // for parsing one file
};

// The file's name in reports.
std::string report_name(const ProjectOptions& options, const std::string& path);

}  // namespace dtype_guard::python
