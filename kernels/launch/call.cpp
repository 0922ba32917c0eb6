#include "kernels/launch/call.h"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace flash_ref {
namespace {

thread_local char message[512];

}  // namespace

Call::Call(const char* api) : api_(api) { message[0] = '\0'; }

int Call::fail(flash_ref_status status, const char* format, ...) const {
  const int prefix = std::snprintf(message, sizeof message, "%s: ", api_);
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message + prefix, sizeof message - static_cast<std::size_t>(prefix), format, arguments);
  va_end(arguments);
  return status;
}

const char* last_message() { return message; }

TupleText::TupleText(const std::int64_t* values, int count) {
  std::size_t length = 1;
  std::strcpy(text_, "(");
  for (int i = 0; i < count; ++i) {
    char number[24];
    std::snprintf(number, sizeof number, "%s%" PRId64, i == 0 ? "" : ", ", values[i]);
    if (length + std::strlen(number) + sizeof ", ...)" > sizeof text_) {
      std::strcpy(text_ + length, ", ...");
      length += 5;
      break;
    }
    std::strcpy(text_ + length, number);
    length += std::strlen(number);
  }
  std::strcpy(text_ + length, ")");
}

}  // namespace flash_ref
