// Where the file of a module stands: beside who asks for it, below the roots of the project, in installed
// packages.
#include <algorithm>
#include <filesystem>

#include "analyzer/python/library_models.h"
#include "analyzer/python/modules.h"

namespace dtype_guard::python {
namespace fs = std::filesystem;
namespace {
std::string joined(const std::string& folder, std::string module) {
  std::replace(module.begin(), module.end(), '.', '/');
  return folder + "/" + module;
}
}  // namespace

bool Modules::exists(const std::string& path) const {
  if (options_.texts.contains(path)) return true;
  {
    const std::scoped_lock lock(mutex_);
    if (const auto known = existing_.find(path); known != existing_.end()) return known->second;
  }
  std::error_code ignored;
  const bool out = fs::is_regular_file(path, ignored);
  const std::scoped_lock lock(mutex_);
  return existing_[path] = out;
}

// Most imports are of no file: what stands in a folder is read once.
const std::unordered_set<std::string>& Modules::entries(const std::string& folder) const {
  {
    const std::scoped_lock lock(mutex_);
    if (const auto known = folders_.find(folder); known != folders_.end()) return known->second;
  }
  std::unordered_set<std::string> out;
  std::error_code error;
  fs::directory_iterator each(folder, error);
  for (; !error && each != fs::directory_iterator(); each.increment(error))
    out.insert(each->path().stem().string());
  const std::string prefix = folder + "/";
  for (auto text = options_.texts.lower_bound(prefix);
       text != options_.texts.end() && text->first.starts_with(prefix); ++text) {
    const std::string below = text->first.substr(prefix.size());
    out.insert(fs::path(below.substr(0, below.find('/'))).stem().string());
  }
  const std::scoped_lock lock(mutex_);
  return folders_.try_emplace(folder, std::move(out)).first->second;
}

// Below the topmost folder that is not a package.
std::string Modules::module_name(const std::string& path) const {
  const fs::path file(path);
  std::string out = file.stem() == "__init__" ? "" : file.stem().string();
  for (fs::path folder = file.parent_path(); exists((folder / "__init__.py").string());
       folder = folder.parent_path()) {
    out = folder.filename().string() + (out.empty() ? "" : "." + out);
    if (folder == folder.parent_path()) break;
  }
  // Without __init__.py (a namespace package) the way from the root says it.
  const std::string report = report_name(options_, path);
  if (out == file.stem().string() && report.find('/') != std::string::npos && !report.starts_with('/')) {
    std::string below = report.substr(0, report.size() - 3);
    if (below.starts_with("src/")) below = below.substr(4);
    std::replace(below.begin(), below.end(), '/', '.');
    return below;
  }
  return out;
}

std::string Modules::find_module(const SourceFile& from, const std::string& module) const {
  if (module.empty()) return {};
  const std::string key = from.path().substr(0, from.path().rfind('/') + 1) + module;
  {
    const std::scoped_lock lock(mutex_);
    if (const auto known = found_.find(key); known != found_.end()) return known->second;
  }
  const std::string model = model_in_place_of(module, options_);
  std::string out = model.empty() ? search(from, module) : model;
  const std::scoped_lock lock(mutex_);
  return found_[key] = std::move(out);
}

std::string Modules::search(const SourceFile& from, const std::string& module) const {
  std::vector<std::string> roots;
  fs::path folder = fs::path(from.path()).parent_path();
  roots.push_back(folder.string());
  while (exists((folder / "__init__.py").string()) && folder != folder.parent_path())
    folder = folder.parent_path();
  roots.push_back(folder.string());
  // A folder above it that the module's name begins below.
  for (fs::path up = folder; up.string().size() > options_.root.size() && up != up.parent_path();
       up = up.parent_path())
    roots.push_back(up.parent_path().string());
  roots.push_back(options_.root);
  roots.push_back(options_.root + "/src");
  const std::string first = module.substr(0, module.find('.'));
  for (const std::string& root : roots) {
    if (!entries(root).contains(first)) continue;
    const std::string path = joined(root, module);
    if (exists(path + ".py")) return path + ".py";
    if (exists(path + "/__init__.py")) return path + "/__init__.py";
  }
  return search_packages(module);
}

// A project may itself stand among installed packages.
bool Modules::is_installed(const std::string& path) const {
  return std::any_of(options_.packages.begin(), options_.packages.end(), [&](const std::string& folder) {
    return path.starts_with(folder + "/") && !(options_.root + "/").starts_with(folder + "/");
  });
}

// What PyTorch and einops do stands in tables; NumPy and Triton have nothing to do with dtypes of tensors.
std::string Modules::search_packages(const std::string& module) const {
  static const std::set<std::string_view> unread = {"torch", "einops", "numpy", "triton"};
  const std::string first = module.substr(0, module.find('.'));
  for (const std::string& folder : options_.packages) {
    const bool is_read = !unread.contains(first) || is_library_model(folder);
    if (!is_read || !entries(folder).contains(first)) continue;
    const std::string path = joined(folder, module);
    for (const std::string& each : {path + ".py", path + "/__init__.py"}) {
      if (exists(each)) return each;
    }
  }
  return {};
}

}  // namespace dtype_guard::python
