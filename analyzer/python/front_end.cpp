#include "analyzer/python/front_end.h"

#include <set>
#include <string>
#include <utility>

#include "analyzer/python/file_lowering.h"
#include "analyzer/python/imported_code.h"
#include "analyzer/python/library_models.h"
#include "analyzer/python/modules.h"

namespace dtype_guard::python {

struct Project::Parts {
  explicit Parts(ProjectOptions options) : modules(std::move(options)) {}
  Modules modules;
};

Project::Project(ProjectOptions options) {
  add_library_models(options);
  parts_ = std::make_unique<Parts>(std::move(options));
}
Project::~Project() = default;

LoweredFile Project::lower(const std::string& path) const {
  LoweredFile out;
  const Modules::Notes notes;
  out.read = {path};
  const ProjectOptions& options = parts_->modules.options();
  std::string why;
  const SourceFile* file = parts_->modules.file(path, &why);
  if (!file) {
    const std::string name = report_name(options, path);
    out.module.files.push_back(name);
    out.errors.push_back({name, 0, 0, why});
    return out;
  }
  out.errors = file->tree().errors();
  out.errors.insert(out.errors.end(), file->cell_errors.begin(), file->cell_errors.end());
  const ContractSet& contracts = options.contracts ? *options.contracts : builtin_contracts();
  out.module = FileLowering(parts_->modules, *file, contracts).run();
  ImportedCode(parts_->modules, contracts, out.module).add();
  if (!file->other_language.empty())
    out.module.not_lowered.push_back(
        {"", "its cells are " + file->other_language + ", and Python is read", {}});
  std::set<std::string> read = {path};
  for (const FileInUse* each : notes.files()) {
    if (!is_library_model(each->path)) read.insert(each->path);
  }
  out.read.assign(read.begin(), read.end());
  return out;
}

}  // namespace dtype_guard::python
