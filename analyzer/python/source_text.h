// A file's text as Python reads it: UTF-8, or why it is none. Of a notebook, that of its cells.
#pragma once

#include <optional>
#include <string>

#include "analyzer/python/project_options.h"
#include "rules/notebook/notebook.h"

namespace dtype_guard::python {

struct SourceText {
  std::string text;
  std::string wrong;  // why there is none, in words that follow the file's name
  std::optional<Notebook> notebook;
};

SourceText read_source(const ProjectOptions& options, const std::string& path);

}  // namespace dtype_guard::python
