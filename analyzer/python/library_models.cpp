#include "analyzer/python/library_models.h"

#include <algorithm>
#include <span>

#include "rules/data/embedded.h"

namespace dtype_guard {
std::span<const EmbeddedFile> embedded_library_models();  // written at build time by embed.cmake
}

namespace dtype_guard::python {
namespace {
constexpr std::string_view kFolder =
    "<library models>";  // no path of a file system: those given are absolute
constexpr std::string_view kInPlace = "# In place of the module itself.\n";
}  // namespace

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

std::string model_in_place_of(const std::string& module, const ProjectOptions& options) {
  std::string path = std::string(kFolder) + "/" + module + ".py";
  std::replace(path.begin() + static_cast<std::ptrdiff_t>(kFolder.size()), path.end() - 3, '.', '/');
  const auto model = options.texts.find(path);
  return model != options.texts.end() && model->second.starts_with(kInPlace) ? path : "";
}

std::string name_of_library_model(std::string_view path) {
  return std::string(path.substr(kFolder.size() + 1));
}

std::string layers_as_bases() { return std::string(kFolder) + "/torch/nn/bases.py"; }

}  // namespace dtype_guard::python
