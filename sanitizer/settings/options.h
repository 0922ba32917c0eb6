// The options of DTYPE_SAN_OPTIONS, "key=value:key=value"; a value in single or double quotes may hold
// colons. The preloaded library and the dtype-san command share this parser, so it allocates nothing and
// reports what it does not understand through a callback: the command refuses to start, the library names it
// and goes on.
#pragma once

#include <cstdint>
#include <string_view>

#include "sanitizer/platform/text_buffer.h"

namespace dtype_guard::san {

using Flag = bool;
using Number = std::uint32_t;
enum class Choice : std::uint8_t { kAuto, kAlways, kNever };
enum class Switch : std::uint8_t { kAuto, kOn, kOff };
enum class Start : std::uint8_t { kOn, kDormant };
enum class Torch : std::uint8_t { kAuto, kOff, kCalls, kChecks, kOrigins };

class Text {
 public:
  constexpr Text(const char* value) { (void)assign(value); }  // implicit: options.inc writes plain literals
  // False when the value is too long to be kept whole.
  constexpr bool assign(std::string_view value) {
    if (value.size() >= sizeof data_) return false;
    for (std::size_t i = 0; i < value.size(); ++i) data_[i] = value[i];
    data_[value.size()] = '\0';
    size_ = value.size();
    return true;
  }
  std::string_view view() const { return {data_, size_}; }
  const char* c_str() const { return data_; }
  bool empty() const { return size_ == 0; }

 private:
  std::size_t size_ = 0;
  char data_[1024] = {};
};

struct Options {
#define DTYPE_SAN_OPTION(kind, name, value, low, high, description) kind name = value;
#include "sanitizer/settings/options.inc"
#undef DTYPE_SAN_OPTION
};

using Complaint = void (*)(void* context, std::string_view message);

// Later keys win. Every unknown key and unusable value is told to `complain` and otherwise skipped.
void parse_options(std::string_view text, Options& options, Complaint complain, void* context);

// "name=default  description", one option a line.
void describe_options(void (*line)(void* context, std::string_view text), void* context);

// Expands %p, %h, %r and %% of a log_path.
void expand_path(std::string_view pattern, std::uint64_t pid, std::string_view host, std::string_view rank,
                 TextSink& out);

}  // namespace dtype_guard::san
