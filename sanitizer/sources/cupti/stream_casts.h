// The casts that each stream has seen since anything else ran on it. Memory is used again quickly, so that an
// attention kernel reads the address which a cast has written proves something only while nothing ran between
// that could have written there: other casts, whose extent is known, are let through, whatever else is
// launched on the stream ends it. Copies that are no kernels are not seen, hence a matched pointer is a hint
// and no proof.
//
// Fixed size and no waiting: two streams that fall into one place, or two threads at one stream at the same
// time, lose what was known.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sanitizer/sources/cupti/parameters.h"

namespace dtype_guard::san::cupti {

struct StreamKey {
  const void* context;
  const void* stream;
  std::uint32_t session;  // between two of them nothing is seen
  friend bool operator==(const StreamKey&, const StreamKey&) = default;
};

struct StreamCast {
  CastArguments arguments;
  std::uint32_t launch = 0;  // index of its kernel
  std::uint32_t timer = 0;   // of its time, if it is taken
};

class StreamCasts {
 public:
  static constexpr std::size_t kStreams = 64;
  static constexpr std::size_t kMost = 8;  // casts before one attention

  void add(const StreamKey& stream, const StreamCast& cast);
  // Another kernel runs on the stream.
  void end(const StreamKey& stream);
  static constexpr std::uint32_t kNoLaunch = 0xffffffff;
  // The casts that wrote to these addresses, one for each or with kNoLaunch; ends the stream's list. False
  // when there is none.
  bool take(const StreamKey& stream, const std::uint64_t (&inputs)[kInputs], StreamCast (&found)[kInputs]);

 private:
  struct Slot {
    std::atomic<std::uint32_t> taken;
    std::atomic<std::uint32_t> missed;  // a thread came while it was taken
    std::atomic<std::uint32_t> count;
    StreamKey key;
    StreamCast casts[kMost];
  };
  class Turn;
  Slot& slot_of(const StreamKey& stream);

  Slot slots_[kStreams];
};

}  // namespace dtype_guard::san::cupti
