// Casts that were found to feed an attention kernel: counted by cast kernel, attention kernel, operand and
// size, with the time they took where that is measured.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sanitizer/sources/cupti/stream_casts.h"

namespace dtype_guard::san::cupti {

struct CastLink {
  std::uint32_t cast = 0;       // index of its launch
  std::uint32_t attention = 0;  // likewise
  std::uint32_t role = 0;       // of kInputRoles
  CastArguments arguments;
};

struct CastLinkSlot {
  std::atomic<std::uint64_t> key;
  std::atomic<std::uint64_t> count;
  std::atomic<std::uint64_t> timed;  // of those whose time was taken
  std::atomic<std::uint64_t> ns;     // that these took together
};

class CastLinks {
 public:
  static constexpr std::size_t kSlots = 512;

  struct Seen {
    std::uint32_t index = 0;
    std::uint64_t count = 0;  // this one included; 0: the table is full
  };
  Seen count(const CastLink& link);
  void add_time(std::uint32_t index, std::uint64_t ns);
  const CastLinkSlot& operator[](std::uint32_t index) const { return slots_[index]; }

 private:
  CastLinkSlot slots_[kSlots];
};

}  // namespace dtype_guard::san::cupti
