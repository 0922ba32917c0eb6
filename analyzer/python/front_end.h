// The Python front end's whole surface, free of tree-sitter: source files in, dtype-flow IR out. Files are
// only read: no code of the project or its environment ever runs. Syntax errors are part of the answer,
// because a file with errors must never pass as clean.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analyzer/flow/ir/ir.h"
#include "analyzer/python/project_options.h"

namespace dtype_guard::python {

struct LoweredFile {
  flow::Module module;              // what could be lowered, also of a file with errors
  std::vector<SourceError> errors;  // syntax and encoding, at most a few
  std::vector<std::string> read;    // the file itself and those that its imports led to, absolute
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

}  // namespace dtype_guard::python
