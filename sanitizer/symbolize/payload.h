// The content of a journal's frame, read from its beginning to its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "rules/text/utf8.h"

namespace dtype_guard::san {

// Takes numbers and texts from a payload; after the first one that is not there, everything is empty.
class Payload {
 public:
  explicit Payload(std::string_view bytes) : bytes_(bytes) {}

  std::uint32_t u32() { return number<std::uint32_t>(); }
  std::uint64_t u64() { return number<std::uint64_t>(); }
  std::string text() { return std::string(take(u32())); }
  // Of an API or a source, a key of the report: damaged names that look alike there are one already here.
  std::string name() { return valid_utf8(text()); }
  // A count of items that need at least `each` bytes.
  std::uint32_t count(std::size_t each) {
    std::uint32_t value = u32();
    if (value > bytes_.size() / each) good_ = false;
    return good_ ? value : 0;
  }
  bool good() const { return good_; }
  bool empty() const { return bytes_.empty(); }

 private:
  template <typename T>
  T number() {
    T value = 0;
    std::string_view raw = take(sizeof value);
    if (raw.size() == sizeof value) std::memcpy(&value, raw.data(), sizeof value);
    return value;
  }
  std::string_view take(std::size_t size) {
    if (size > bytes_.size()) {
      good_ = false;
      bytes_ = {};
      return {};
    }
    std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }

  std::string_view bytes_;
  bool good_ = true;
};

}  // namespace dtype_guard::san
