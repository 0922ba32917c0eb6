// The Python front end's whole surface, free of tree-sitter: source files in, dtype-flow IR out. Files are
// only read: no code of the project or its environment ever runs. Syntax errors are part of the answer,
// because a file with errors must never pass as clean.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/flow/ir/ir.h"
#include "rules/contracts/contract.h"

namespace dtype_guard::python {

struct SourceError {
  std::string file;  // as the report names it
  int line = 0;      // from 1; 0: of the file as a whole
  int column = 0;
  std::string message;
};

struct LoweredFile {
  flow::Module module;              // what could be lowered, also of a file with errors
  std::vector<SourceError> errors;  // syntax and encoding, at most a few
  std::vector<std::string> read;    // the file itself and those that its imports led to, absolute
};

struct ProjectOptions {
  std::string root;                            // absolute; report names are relative to it
  const ContractSet* contracts = nullptr;      // the calls that are sinks; null: those built in
  std::map<std::string, std::string> texts;    // of files that are not on disk (as yet), by absolute path
  std::vector<std::string> packages;           // folders such as site-packages, where imports end
  std::size_t largest = std::size_t{8} << 20;  // bytes; a larger file is an error of its own
  int seconds = 60;                            // for parsing one file
};

// The files of one run. Others than the one being lowered are read as its imports need them, once. May be
// used by several threads.
class Project {
 public:
  explicit Project(ProjectOptions options);
  ~Project();
  Project(const Project&) = delete;
  Project& operator=(const Project&) = delete;

  // `path` is absolute, or "<stdin>"-like where `texts` has it. Throws nothing but std::bad_alloc.
  LoweredFile lower(const std::string& path) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// The file's name in reports.
std::string report_name(const ProjectOptions& options, const std::string& path);

}  // namespace dtype_guard::python
