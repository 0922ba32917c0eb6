// What the source knows of this process; a forked child starts anew.
#pragma once

#include "sanitizer/platform/wiped_in_child.h"
#include "sanitizer/process/process.h"
#include "sanitizer/sources/cupti/cast_times.h"
#include "sanitizer/sources/cupti/graphs.h"
#include "sanitizer/sources/cupti/launches.h"
#include "sanitizer/sources/cupti/thread_launch.h"

namespace dtype_guard::san::cupti {

struct State {
  ThreadLaunch threads[Process::kCallSlots];  // by the thread's call slot
  Launches launches;
  Graphs graphs;
  StreamCasts stream_casts;
  CastLinks cast_links;
  CastTimes cast_times;
};

inline constinit WipedInChild<State> state;

inline ThreadLaunch& thread_launch(State& known, const Process& process, const CallSlot& slot) {
  return known.threads[&slot - process.calls];
}

}  // namespace dtype_guard::san::cupti
