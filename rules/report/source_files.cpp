#include "rules/report/source_files.h"

#include <fstream>
#include <iterator>

#include "rules/text/language.h"

namespace dtype_guard {
namespace {

constexpr std::uintmax_t kLargestFile = 16U << 20U;
constexpr std::uintmax_t kLargestNotebook = 512U << 20U;  // most of which is pictures

bool read(const std::filesystem::path& path, std::string& text, std::uintmax_t largest) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error || size > largest) return false;
  std::ifstream in(path, std::ios::binary);
  if (!in) return false;
  text.assign(std::istreambuf_iterator<char>(in), {});
  return !in.bad();
}

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.push_back(line);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  return lines;
}

const SourceFiles::Source& SourceFiles::of(const std::string& file) {
  const auto known = files_.find(file);
  if (known != files_.end()) return known->second;
  Source& source = files_[file];
  const std::uintmax_t largest = is_notebook(file) ? kLargestNotebook : kLargestFile;
  source.readable = !file.empty() && read(root_ / file, source.text, largest);
  source.lines = lines_of(source.text);
  return source;
}

const Notebook* SourceFiles::notebook(const std::string& file) {
  if (!is_notebook(file)) return nullptr;
  const auto [entry, added] = notebooks_.try_emplace(file);
  std::string text;
  if (added && read(root_ / file, text, kLargestNotebook)) entry->second = notebook_of(text);
  return entry->second ? &*entry->second : nullptr;
}

std::string_view SourceFiles::line(const std::string& file, int number) {
  const std::vector<std::string_view>& all = lines(file);
  if (number < 1 || static_cast<std::size_t>(number) > all.size()) return {};
  return all[static_cast<std::size_t>(number) - 1];
}

}  // namespace dtype_guard
