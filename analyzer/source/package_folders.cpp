#include "analyzer/source/package_folders.h"

#include <algorithm>
#include <array>
#include <utility>

namespace dtype_guard::source {

namespace {
// Folders that exist in installation prefixes alone, and headers at the root of libtorch's include folders.
constexpr std::array<std::string_view, 7> kMarks = {
    "/share/cmake",     "/lib/cmake",   "/lib64/cmake",          "/lib/pkgconfig",
    "/share/pkgconfig", "/ATen/ATen.h", "/c10/core/ScalarType.h"};

bool is_below(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}
}  // namespace

PackageFolders::PackageFolders(std::string root, std::string source, Exists exists)
    : root_(std::move(root)), source_(std::move(source)), exists_(std::move(exists)) {
  if (root_ == "/") root_.clear();
}

bool PackageFolders::hold(const std::string& file) {
  const std::size_t top = is_below(file, root_) ? root_.size() : 0;
  std::size_t slash = file.rfind('/');
  while (slash != std::string::npos && slash > top) {
    if (is_package(file.substr(0, slash))) return true;
    slash = file.rfind('/', slash - 1);
  }
  return false;
}

bool PackageFolders::is_package(const std::string& folder) {
  const auto [entry, is_new] = known_.try_emplace(folder, false);
  if (is_new && !is_below(source_, folder)) {
    entry->second = std::any_of(kMarks.begin(), kMarks.end(),
                                [&](std::string_view mark) { return exists_(folder + std::string(mark)); });
  }
  return entry->second;
}

}  // namespace dtype_guard::source
