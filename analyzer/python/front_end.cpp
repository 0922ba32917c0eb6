#include "analyzer/python/front_end.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>

#include "analyzer/python/syntax.h"
#include "rules/text/utf8.h"

namespace dtype_guard::python {
namespace fs = std::filesystem;

struct Project::Parts {
  ProjectOptions options;
};

Project::Project(ProjectOptions options) : parts_(std::make_unique<Parts>()) {
  parts_->options = std::move(options);
}
Project::~Project() = default;

LoweredFile Project::lower(const std::string& path) const {
  LoweredFile out;
  out.read.push_back(path);
  out.module.files.push_back(report_name(parts_->options, path));
  return out;
}

std::string report_name(const ProjectOptions& options, const std::string& path) {
  const std::string prefix = options.root + "/";
  return path.starts_with(prefix) ? path.substr(prefix.size()) : path;
}

}  // namespace dtype_guard::python
