#include "kernels/call/call.h"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace flash_ref {
namespace {

thread_local char message[KeptMessage::kBytes];

const char* device_name(int type) {
  switch (type) {
    case 1:
      return "CPU";
    case 2:
      return "CUDA";
    case 3:
      return "CUDA pinned host memory";
    case 8:
      return "Metal";
    case 10:
      return "ROCm";
    case 13:
      return "CUDA managed memory";
    default:
      return "unknown here";
  }
}

}  // namespace

KeptMessage::KeptMessage() { std::memcpy(text_, message, kBytes); }
KeptMessage::~KeptMessage() { std::memcpy(message, text_, kBytes); }

Call::Call(const char* api) : api_(api) { message[0] = '\0'; }

int Call::check_device(const char* role, int type, int id, bool has_cuda) const {
  if (type != kCpu && (type != kCuda || !has_cuda)) {
    return fail(FLASH_REF_BAD_DEVICE,
                "%s is on device type %d (%s); this library runs on device type 1 (CPU)%s", role, type,
                device_name(type), has_cuda ? " and 2 (CUDA)" : "");
  }
  if (first_role_ == nullptr) {
    first_role_ = role;
    device_type_ = type;
    device_id_ = id;
  }
  if (type == device_type_ && (type == kCpu || id == device_id_)) return FLASH_REF_OK;
  return fail(FLASH_REF_BAD_DEVICE,
              "%s is on device %d of type %d (%s); expected device %d of type %d (%s), where %s is", role, id,
              type, device_name(type), device_id_, device_type_, device_name(device_type_), first_role_);
}

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
