#include "analyzer/lsp/documents.h"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>

namespace dtype_guard::lsp {

namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const int lower = std::tolower(static_cast<unsigned char>(c));
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

constexpr std::string_view kFile = "file://";
constexpr std::string_view kUnescaped = "-._~/!$&'()*+,;=:@";

}  // namespace

std::string path_of(const std::string& uri) {
  if (!uri.starts_with(kFile)) return {};
  const std::size_t slash = uri.find('/', kFile.size());  // a host before it is this one
  if (slash == std::string::npos) return {};
  std::string path;
  for (std::size_t at = slash; at < uri.size(); ++at) {
    const int high = uri[at] == '%' && at + 2 < uri.size() ? hex_digit(uri[at + 1]) : -1;
    const int low = high >= 0 ? hex_digit(uri[at + 2]) : -1;
    if (low < 0) {
      path += uri[at];
      continue;
    }
    path += static_cast<char>(high * 16 + low);
    at += 2;
  }
  if (path.find('\0') != std::string::npos) return {};
  path = std::filesystem::path(path).lexically_normal().string();
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string uri_of(const std::string& path) {
  std::string out(kFile);
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && (std::isalnum(byte) != 0 || kUnescaped.find(c) != std::string_view::npos)) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", byte);
    }
  }
  return out;
}

const Document* Documents::find(const std::string& path) const {
  const auto found = documents_.find(path);
  return found == documents_.end() ? nullptr : &found->second;
}

std::string Documents::open(const Json& params, std::string& path) {
  const Json& given = at(params, "textDocument");
  const std::string uri = text_at(given, "uri");
  path = path_of(uri);
  if (path.empty()) return uri.empty() ? "didOpen without a uri" : "";
  if (!at(given, "text").is_string()) return fmt::format("didOpen of '{}' without its text", path);
  Document& document = documents_[path];
  document.uri = uri;
  document.text = text_at(given, "text");
  const Json& version = at(given, "version");
  document.version = version.is_number_integer() ? version.get<std::int64_t>() : 0;
  return {};
}

std::string Documents::apply(Document& document, const Json& change) const {
  const Json& text = at(change, "text");
  if (!text.is_string()) return "a change without text";
  if (at(change, "range").is_null()) {
    document.text = text.get<std::string>();
    return {};
  }
  const std::optional<Range> range = read_range(at(change, "range"));
  if (!range) return "a change with a range that is none";
  const Lines lines(document.text);
  const std::size_t begin = lines.offset(range->start, encoding_);
  const std::size_t end = lines.offset(range->end, encoding_);
  if (end < begin) return "a change with a range that ends before it begins";
  document.text.replace(begin, end - begin, text.get<std::string>());
  return {};
}

std::string Documents::change(const Json& params, std::string& path) {
  const std::string uri = text_at(params, "textDocument", "uri");
  path = path_of(uri);
  const auto found = documents_.find(path);
  if (found == documents_.end()) {
    if (!path.empty() || uri.empty()) return fmt::format("didChange of '{}', which is not open", uri);
    return {};
  }
  const Json& version = at(params, "textDocument", "version");
  if (version.is_number_integer()) found->second.version = version.get<std::int64_t>();
  std::string wrong;
  for (const Json& each : list_at(params, "contentChanges")) {
    std::string problem = apply(found->second, each);
    if (wrong.empty() && !problem.empty()) wrong = fmt::format("didChange of '{}': {}", path, problem);
  }
  return wrong;
}

std::string Documents::close(const Json& params, std::string& path) {
  const std::string uri = text_at(params, "textDocument", "uri");
  path = path_of(uri);
  if (documents_.erase(path) > 0 || (path.empty() && !uri.empty())) return {};
  return fmt::format("didClose of '{}', which is not open", uri);
}

}  // namespace dtype_guard::lsp
