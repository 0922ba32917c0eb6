// Models of libraries: Python files below library_models/, laid out like site-packages, that state what a
// library's functions and modules do with dtypes. They are compiled in, and stand for packages that are not
// installed: an import that no file of the project or its environment answers is looked for among them.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/python/project_options.h"

namespace dtype_guard::python {

// As if it stood behind the last of the packages.
void add_library_models(ProjectOptions& options);
// Whether such a path is a file of theirs, which is on no disk.
bool is_library_model(std::string_view path);
// The model that stands in place of that module wherever it is found, installed or in the project: what the
// module does cannot be followed. "" where there is none.
std::string model_in_place_of(const std::string& module, const ProjectOptions& options);
// Such a file as it would be named below site-packages.
std::string name_of_library_model(std::string_view path);

// The file with PyTorch's layers as bases of classes.
std::string layers_as_bases();

}  // namespace dtype_guard::python
