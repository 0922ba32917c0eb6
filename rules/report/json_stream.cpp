#include "rules/report/json_stream.h"

#include <fmt/format.h>

#include <ostream>

#include "rules/text/utf8.h"

namespace dtype_guard {
namespace {

constexpr std::size_t kFlushAt = 64U << 10U;

// The escape of one character, empty when it stands for itself.
std::string_view short_escape(char character) {
  switch (character) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return {};
  }
}

}  // namespace

JsonStream::JsonStream(std::ostream& out, int indent, bool in_html)
    : out_(out), indent_(indent), in_html_(in_html) {}

JsonStream::~JsonStream() { flush(); }

void JsonStream::flush() {
  out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  buffer_.clear();
}

void JsonStream::new_line() {
  if (indent_ == 0) return;
  buffer_ += '\n';
  buffer_.append(static_cast<std::size_t>(depth_) * static_cast<std::size_t>(indent_), ' ');
}

void JsonStream::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (depth_ == 0) return;
  if (!first_) buffer_ += ',';
  new_line();
  first_ = false;
}

void JsonStream::begin(char bracket) {
  separate();
  buffer_ += bracket;
  ++depth_;
  first_ = true;
}

void JsonStream::end(char bracket) {
  --depth_;
  if (!first_) new_line();
  buffer_ += bracket;
  first_ = false;
  if (buffer_.size() > kFlushAt) flush();
}

JsonStream& JsonStream::key(std::string_view name) {
  separate();
  quoted(name);
  buffer_ += indent_ == 0 ? ":" : ": ";
  after_key_ = true;
  return *this;
}

void JsonStream::value(std::string_view text) {
  separate();
  quoted(text);
}

void JsonStream::value(bool truth) {
  separate();
  buffer_ += truth ? "true" : "false";
}

void JsonStream::null() {
  separate();
  buffer_ += "null";
}

void JsonStream::signed_number(std::int64_t number) {
  separate();
  buffer_ += fmt::to_string(number);
}

void JsonStream::unsigned_number(std::uint64_t number) {
  separate();
  buffer_ += fmt::to_string(number);
}

void JsonStream::quoted(std::string_view text) {
  buffer_ += '"';
  std::size_t plain = 0;
  const auto put = [&](std::size_t at, std::size_t length, std::string_view instead) {
    buffer_.append(text.substr(plain, at - plain)).append(instead);
    plain = at + length;
  };
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte >= 0x80) {
      const Utf8Character character = utf8_character(text, at);
      if (!character.valid) put(at, character.length, "\xEF\xBF\xBD");
      at += character.length;
      continue;
    }
    const std::string_view escape = short_escape(text[at]);
    if (!escape.empty()) {
      put(at, 1, escape);
    } else if (byte < 0x20 || (in_html_ && (byte == '<' || byte == '>' || byte == '&'))) {
      put(at, 1, fmt::format("\\u{:04x}", byte));
    }
    ++at;
  }
  buffer_.append(text.substr(plain)) += '"';
}

}  // namespace dtype_guard
