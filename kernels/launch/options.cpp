#include "kernels/launch/options.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/isa.h"

namespace flash_ref {
namespace {

// No struct will ever be larger; a bigger struct_size is uninitialised memory.
constexpr std::size_t kLargest = 4096;

bool all_zero(const void* data, std::size_t begin, std::size_t end) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  return std::all_of(bytes + std::min(begin, end), bytes + end, [](unsigned char byte) { return byte == 0; });
}

}  // namespace

int read_options(const Call& call, const void* given, std::size_t first, std::size_t known, const char* type,
                 void* target) {
  std::memset(target, 0, known);
  if (given == nullptr) return FLASH_REF_OK;
  std::uint32_t size = 0;
  std::memcpy(&size, given, sizeof size);
  if (size == 0) {
    if (all_zero(given, 0, first)) return FLASH_REF_OK;
    return call.fail(FLASH_REF_BAD_OPTIONS,
                     "options.struct_size is 0 but other members are set; set it to sizeof(%s)", type);
  }
  const bool cuts_member = size < known && size % alignof(void*) != 0;
  if (size < first || size > kLargest || cuts_member) {
    return call.fail(FLASH_REF_BAD_OPTIONS, "options.struct_size is %u; expected %zu, sizeof(%s)", size,
                     known, type);
  }
  if (!all_zero(given, known, size)) {
    return call.fail(FLASH_REF_BAD_OPTIONS,
                     "options.struct_size is %u and a member beyond byte %zu is set, which this library "
                     "(ABI version %d) does not know",
                     size, known, FLASH_REF_ABI_VERSION);
  }
  std::memcpy(target, given, std::min<std::size_t>(size, known));
  return FLASH_REF_OK;
}

int check_switch(const Call& call, const char* member, std::uint32_t value) {
  if (value <= 1) return FLASH_REF_OK;
  return call.fail(FLASH_REF_BAD_OPTIONS, "options.%s is %u; expected 0 or 1", member, value);
}

int check_common_members(const Call& call, const void* workspace, std::size_t bytes, std::uint32_t reserved) {
  if (workspace == nullptr && bytes != 0) {
    return call.fail(FLASH_REF_BAD_OPTIONS,
                     "options.workspace is NULL and options.workspace_bytes is %zu; expected 0", bytes);
  }
  if (reserved != 0) return call.fail(FLASH_REF_BAD_OPTIONS, "options.reserved is %u; expected 0", reserved);
  return FLASH_REF_OK;
}

int check_isa(const Call& call) {
  if (call.on_cuda()) return FLASH_REF_OK;
  if (cpu::selected_isa() != nullptr) return FLASH_REF_OK;
  return call.fail(FLASH_REF_BAD_OPTIONS, "%s", cpu::isa_problem());
}

}  // namespace flash_ref
