#include "analyzer/driver/borrowed_flags.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <tuple>

#include "analyzer/source/user_code.h"

namespace dtype_guard::driver {

namespace fs = std::filesystem;
using source::CompileCommand;

namespace {

enum class Language { kC, kCxx, kCuda };

Language language_of(const std::string& file) {
  const std::string ending = fs::path(file).extension().string();
  if (ending == ".c") return Language::kC;
  return ending == ".cu" || ending == ".cuh" ? Language::kCuda : Language::kCxx;
}

struct Distance {
  bool other_language = false;
  std::ptrdiff_t steps = 0;  // from folder to folder
  bool other_name = false;
  std::string_view file;  // decides among equals

  auto key() const { return std::tie(other_language, steps, other_name, file); }
};

Distance distance(const std::string& from, const std::string& to) {
  const fs::path a = fs::path(from).parent_path();
  const fs::path b = fs::path(to).parent_path();
  const auto [left, right] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return {language_of(from) != language_of(to), std::distance(left, a.end()) + std::distance(right, b.end()),
          fs::path(from).stem() != fs::path(to).stem(), to};
}

// What names a language, or a standard of one, means nothing in another.
std::vector<std::string> without_language(const std::vector<std::string>& arguments) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& each = arguments[i];
    if (each == "-x" || each == "-std") {
      ++i;
    } else if (!each.starts_with("-x") && !each.starts_with("-std=") && !each.starts_with("--std=")) {
      kept.push_back(each);
    }
  }
  return kept;
}

}  // namespace

std::optional<BorrowedFlags> borrowed_flags(const std::string& file, const std::vector<CompileCommand>& all) {
  if (!source::is_cxx(file)) return std::nullopt;
  const CompileCommand* nearest = nullptr;
  for (const CompileCommand& each : all) {
    if (!source::is_cxx(each.file)) continue;
    if (!nearest || distance(file, each.file).key() < distance(file, nearest->file).key()) nearest = &each;
  }
  if (!nearest) return std::nullopt;
  BorrowedFlags out{{nearest->directory, file, nearest->arguments}, nearest->file};
  const bool same = language_of(file) == language_of(nearest->file);
  if (!same) out.command.arguments = without_language(out.command.arguments);
  if (source::is_header(file) && language_of(file) == Language::kCxx && !out.command.arguments.empty()) {
    const std::vector<std::string> cxx = {"-x", "c++"};
    out.command.arguments.insert(out.command.arguments.begin() + 1, cxx.begin(), cxx.end());
  }
  return out;
}

}  // namespace dtype_guard::driver
