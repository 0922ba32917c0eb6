#include "analyzer/python/library_models.h"

#include <span>

#include "rules/data/embedded.h"

namespace dtype_guard {
std::span<const EmbeddedFile> embedded_library_models();  // written at build time by embed.cmake
}

namespace dtype_guard::python {
namespace {
constexpr std::string_view kFolder =
    "<library models>";  // no path of a file system: those given are absolute
}

void add_library_models(ProjectOptions& options) {
  const std::string folder(kFolder);
  options.packages.push_back(folder);
  for (const EmbeddedFile& each : embedded_library_models()) {
    const std::string path = folder + "/" + std::string(each.name);
    options.texts.emplace(path, each.text);
    for (std::size_t end = path.rfind('/'); end > folder.size(); end = path.rfind('/', end - 1))
      options.texts.emplace(path.substr(0, end) + "/__init__.py", "");
  }
}

bool is_library_model(std::string_view path) { return path.starts_with(kFolder); }

std::string name_of_library_model(std::string_view path) {
  return std::string(path.substr(kFolder.size() + 1));
}

std::string layers_as_bases() { return std::string(kFolder) + "/torch/nn/bases.py"; }

}  // namespace dtype_guard::python
