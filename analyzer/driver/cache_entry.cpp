#include "analyzer/driver/cache_entry.h"

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <charconv>

namespace dtype_guard::driver {

using source::Dependencies;
using source::ReadFile;
using source::SearchedFolder;

namespace {

constexpr std::string_view kMagic = "dtype-lint cache 1 ";
constexpr std::size_t kChecksumLength = 16;

std::string checksum(std::string_view text) {
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

// Reads lines, and numbers at the beginning of one.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}
  bool next() {
    const std::size_t end = rest_.find('\n');
    if (end == std::string_view::npos) return ok_ = false;
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return true;
  }
  template <typename T>
  T number(int base = 10) {
    T value{};
    const auto [end, error] = std::from_chars(line_.data(), line_.data() + line_.size(), value, base);
    if (error != std::errc{}) ok_ = false;
    line_.remove_prefix(static_cast<std::size_t>(end - line_.data()));
    if (!line_.empty() && line_.front() == ' ') line_.remove_prefix(1);
    return value;
  }
  // A count of lines that the text still has room for.
  std::size_t count() {
    const auto value = number<std::size_t>();
    if (value > rest_.size()) ok_ = false;
    return ok_ ? value : 0;
  }
  std::string_view line() const { return line_; }
  std::string_view rest() const { return rest_; }
  bool ok() const { return ok_; }

 private:
  std::string_view rest_;
  std::string_view line_;
  bool ok_ = true;
};

void read_names(Lines& lines, std::size_t count, std::vector<std::string>& into) {
  for (std::size_t i = 0; i < count && lines.next(); ++i) into.emplace_back(lines.line());
}

}  // namespace

std::string cache_entry_text(const std::string& key, const Dependencies& dependencies,
                             std::string_view summary) {
  bool plain = true;
  const auto name = [&](const std::string& path) -> const std::string& {
    plain &= path.find('\n') == std::string::npos;
    return path;
  };
  std::string body = key + "\n";
  body += fmt::format("{}\n", dependencies.files.size());
  for (const ReadFile& each : dependencies.files) {
    body += fmt::format("{} {} {:016x} {}\n", each.size, each.modified, each.hash, name(each.path));
  }
  body += fmt::format("{}\n", dependencies.folders.size());
  for (const SearchedFolder& each : dependencies.folders) {
    body +=
        fmt::format("{} {} {} {}\n", each.modified, each.absent.size(), each.present.size(), name(each.path));
    for (const std::string& one : each.absent) body += fmt::format("{}\n", name(one));
    for (const std::string& one : each.present) body += fmt::format("{}\n", name(one));
  }
  body += summary;
  if (!plain) return {};
  return fmt::format("{}{}\n", kMagic, checksum(body)) + body;
}

std::optional<CacheEntry> parse_cache_entry(const std::string& key, std::string_view text) {
  if (!text.starts_with(kMagic) || text.size() < kMagic.size() + kChecksumLength + 1) return std::nullopt;
  const std::string_view expected = text.substr(kMagic.size(), kChecksumLength);
  const std::string_view body = text.substr(kMagic.size() + kChecksumLength + 1);
  if (checksum(body) != expected) return std::nullopt;
  Lines lines(body);
  if (!lines.next() || lines.line() != key || !lines.next()) return std::nullopt;
  CacheEntry entry;
  const std::size_t files = lines.count();
  entry.dependencies.files.reserve(files);
  for (std::size_t i = 0; i < files && lines.next(); ++i) {
    ReadFile& each = entry.dependencies.files.emplace_back();
    each.size = lines.number<std::uint64_t>();
    each.modified = lines.number<std::int64_t>();
    each.hash = lines.number<std::uint64_t>(16);
    each.path = lines.line();
  }
  if (!lines.next()) return std::nullopt;
  const std::size_t folders = lines.count();
  for (std::size_t i = 0; i < folders && lines.next(); ++i) {
    SearchedFolder& each = entry.dependencies.folders.emplace_back();
    each.modified = lines.number<std::int64_t>();
    const std::size_t absent = lines.count();
    const std::size_t present = lines.count();
    each.path = lines.line();
    read_names(lines, absent, each.absent);
    read_names(lines, present, each.present);
  }
  if (!lines.ok()) return std::nullopt;
  entry.summary = lines.rest();
  return entry;
}

}  // namespace dtype_guard::driver
