// The arguments of one kernel launch, read where the caller has put them for the driver. How large each is
// only the driver knows (cuFuncGetParamInfo, cuKernelGetParamInfo), so without that nothing is read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/sources/cupti/driver.h"
#include "sanitizer/sources/cupti/launch_abi.h"

namespace dtype_guard::san::cupti {

class Arguments {
 public:
  // `extra` is null where the entry point has none.
  Arguments(const Driver& driver, void* function, void** arguments, void** extra);

  // The bytes of one parameter, if it has exactly (or with at_least: no fewer than) `size`; nullptr when that
  // cannot be known.
  const char* parameter(std::size_t index, std::size_t size, bool at_least = false) const;

  // Calls visit(parameter, offset, word) for each aligned word of 8 bytes; false when the arguments cannot be
  // read.
  template <typename Visitor>
  bool each_word(Visitor&& visit) const;

 private:
  static constexpr std::size_t kMostParameters = 64;
  struct Span {
    const char* data = nullptr;
    std::size_t size = 0;
  };
  // False behind the last parameter and when the driver does not say.
  bool find(std::size_t index, Span& span) const;

  const Driver& driver_;
  void* function_;
  void** arguments_;
  Span buffer_;
};

template <typename Visitor>
bool Arguments::each_word(Visitor&& visit) const {
  Span span;
  std::size_t index = 0;
  for (; index < kMostParameters && find(index, span); ++index) {
    for (std::size_t at = 0; at + sizeof(std::uint64_t) <= span.size; at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      __builtin_memcpy(&word, span.data + at, sizeof word);
      visit(index, at, word);
    }
  }
  return index > 0;
}

}  // namespace dtype_guard::san::cupti
