#include "analyzer/python/project_options.h"

namespace dtype_guard::python {

std::string report_name(const ProjectOptions& options, const std::string& path) {
  const std::string prefix = options.root + "/";
  return path.starts_with(prefix) ? path.substr(prefix.size()) : path;
}

}  // namespace dtype_guard::python
