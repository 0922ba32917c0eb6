#include "analyzer/lsp/message_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace dtype_guard::lsp {

namespace {

constexpr std::string_view kLength = "content-length";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

bool is_length(std::string_view name) {
  return std::equal(name.begin(), name.end(), kLength.begin(), kLength.end(),
                    [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
}

}  // namespace

std::string framed(std::string_view body) {
  return fmt::format("Content-Length: {}\r\n\r\n{}", body.size(), body);
}

void MessageStream::drop_read() {
  constexpr std::size_t kWorthMoving = std::size_t{1} << 16;
  if (at_ == pending_.size()) {
    pending_.clear();
    at_ = 0;
  } else if (at_ > kWorthMoving && at_ > pending_.size() / 2) {
    pending_.erase(0, at_);
    at_ = 0;
  }
}

// Behind what cannot be read, lines are passed over until one names a length again.
Received MessageStream::give_up(std::string problem) {
  header_bytes_ = 0;
  length_.reset();
  in_header_ = false;
  lost_ = true;
  return {"", std::move(problem)};
}

std::optional<std::string_view> MessageStream::line() {
  const std::size_t end = pending_.find('\n', at_);
  if (end == std::string::npos) return std::nullopt;
  const std::string_view out(pending_.data() + at_, end - at_);
  at_ = end + 1;
  return out;
}

std::optional<Received> MessageStream::next() {
  if (to_skip_ > 0) {
    const std::size_t now = std::min(to_skip_, pending_.size() - at_);
    at_ += now;
    to_skip_ -= now;
    drop_read();
    if (to_skip_ > 0) return std::nullopt;
  }
  std::optional<Received> out = in_body_ ? body() : header();
  drop_read();
  return out;
}

std::optional<Received> MessageStream::header() {
  for (;;) {
    const std::size_t before = at_;
    const std::optional<std::string_view> text = line();
    if (!text) {
      if (pending_.size() - at_ <= kLargestHeader) return std::nullopt;
      at_ = pending_.size();
      if (!lost_) return give_up("a header line has no end");
      return std::nullopt;
    }
    header_bytes_ += at_ - before;
    const std::string_view content = trimmed(*text);
    if (content.empty()) {
      if (!in_header_) continue;  // blank lines between messages do no harm
      if (!length_) return give_up("a header without Content-Length");
      in_header_ = false;
      in_body_ = true;
      header_bytes_ = 0;
      return body();
    }
    const std::size_t colon = content.find(':');
    const bool names_length = colon != std::string_view::npos && is_length(trimmed(content.substr(0, colon)));
    if (lost_ && !names_length) continue;
    lost_ = false;
    in_header_ = true;
    if (colon == std::string_view::npos) return give_up("a header line without ':'");
    if (header_bytes_ > kLargestHeader) return give_up("a header of too many lines");
    if (!names_length) continue;
    const std::string_view number = trimmed(content.substr(colon + 1));
    std::size_t length = 0;
    const auto [end, wrong] = std::from_chars(number.data(), number.data() + number.size(), length);
    if (wrong != std::errc() || end != number.data() + number.size())
      return give_up("a Content-Length that is no number of bytes");
    length_ = length;
  }
}

std::optional<Received> MessageStream::body() {
  const std::size_t length = *length_;
  if (length > kLargestBody) {
    const std::size_t now = std::min(length, pending_.size() - at_);
    at_ += now;
    to_skip_ = length - now;
    in_body_ = false;
    length_.reset();
    return Received{"", fmt::format("a message of {} bytes; at most {} are taken", length, kLargestBody)};
  }
  if (pending_.size() - at_ < length) return std::nullopt;
  Received out{pending_.substr(at_, length), ""};
  at_ += length;
  in_body_ = false;
  length_.reset();
  return out;
}

}  // namespace dtype_guard::lsp
