// Which version of each library a project means: --library says it, else the environment (only looked at,
// never run), else the project's pins. Where none of them does, every version that the contracts tell apart
// is possible.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "rules/contracts/contract.h"

namespace dtype_guard::driver {

// For each library that the contracts tell versions of apart: one version of each kind that is possible, the
// newest last. "torch" has one or none.
using LibraryVersions = std::map<std::string, std::vector<std::string>>;

struct VersionSources {
  std::map<std::string, std::string> named;  // by --library
  std::vector<std::string> packages;         // folders such as site-packages
  std::string root;                          // of the project, whose pins are read
};
LibraryVersions library_versions(const ContractSet& contracts, const VersionSources& sources);

// "before 2.8", "2.8 and newer": the versions that `version` stands for among those told apart.
std::string span_of_version(const ContractSet& contracts, const std::string& library,
                            const std::string& version);

// The folders of installed packages below an environment or beside its interpreter; without one, of .venv or
// venv in the project. Empty: there is none.
std::vector<std::string> package_folders(const std::string& python, const std::string& root);

}  // namespace dtype_guard::driver
