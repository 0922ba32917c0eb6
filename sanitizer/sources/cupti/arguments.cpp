#include "sanitizer/sources/cupti/arguments.h"

namespace dtype_guard::san::cupti {

Arguments::Arguments(const Driver& driver, void* function, void** arguments, void** extra)
    : driver_(driver), function_(function), arguments_(arguments) {
  // Pairs up to an end mark; a caller that forgot the mark has a broken launch, so only a few are looked at.
  for (std::size_t i = 0; extra != nullptr && arguments == nullptr && i < 8; i += 2) {
    const auto mark = reinterpret_cast<std::uintptr_t>(extra[i]);
    if (mark == kExtraBuffer) {
      buffer_.data = static_cast<const char*>(extra[i + 1]);
    } else if (mark == kExtraSize && extra[i + 1] != nullptr) {
      buffer_.size = *static_cast<const std::size_t*>(extra[i + 1]);
    } else {
      break;
    }
  }
}

bool Arguments::find(std::size_t index, Span& span) const {
  std::size_t offset = 0, size = 0;
  if (!driver_.find_parameter(function_, index, offset, size)) return false;
  if (arguments_ != nullptr) {
    span = {static_cast<const char*>(arguments_[index]), size};
  } else if (buffer_.data != nullptr && offset <= buffer_.size && size <= buffer_.size - offset) {
    span = {buffer_.data + offset, size};
  } else {
    return false;
  }
  return span.data != nullptr;
}

const char* Arguments::parameter(std::size_t index, std::size_t size, bool at_least) const {
  Span span;
  if (!find(index, span)) return nullptr;
  return span.size == size || (at_least && span.size > size) ? span.data : nullptr;
}

}  // namespace dtype_guard::san::cupti
