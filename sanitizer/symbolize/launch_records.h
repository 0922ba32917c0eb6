// The frames about kernel launches, as journal_reader.cpp takes them apart.
#pragma once

#include <utility>

#include "sanitizer/symbolize/journal_content.h"

namespace dtype_guard::san {

// What follows the launch's name, operands and stack; nothing in journals of older libraries.
template <typename Payload>
JournalLaunch read_launch(Payload& in, JournalFinding place) {
  JournalLaunch launch{std::move(place), "", false, {}, 0, 0};
  if (!in.good() || in.empty()) return launch;
  launch.call = in.text();
  launch.has_arguments = in.u32() != 0;
  const std::uint32_t matches = in.count(12);
  for (std::uint32_t i = 0; i < matches; ++i) {
    const JournalLaunch::Match match{in.u32(), in.u32(), in.u32()};
    if (match.operand < launch.place.operands.size()) launch.matches.push_back(match);
  }
  return launch;
}

template <typename Payload>
JournalCast read_cast(Payload& in, JournalFinding place) {
  JournalCast cast;
  cast.place = std::move(place);
  cast.cast = in.u32();
  cast.attention = in.u32();
  cast.role = in.u32();
  cast.elements = in.u64();
  cast.element_size = in.u32();
  cast.x_type = in.u32();
  cast.out_type = in.u32();
  return cast;
}

struct LaunchCount {
  std::uint64_t launches = 0, captured = 0, replayed = 0;
};
struct CastCount {
  std::uint64_t casts = 0, timed = 0, ns = 0;
};

inline void apply(const LaunchCount& count, JournalLaunch& launch) {
  if (count.launches != 0) launch.place.count = count.launches;
  launch.captured = count.captured;
  launch.replayed = count.replayed;
}
inline void apply(const CastCount& count, JournalCast& cast) {
  if (count.casts != 0) cast.place.count = count.casts;
  cast.timed = count.timed;
  cast.ns = count.ns;
}

}  // namespace dtype_guard::san
