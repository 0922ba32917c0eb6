// What is done for each launch that CUPTI tells of. Counted where it begins, once, although a launch by the
// runtime passes the driver's entry point too; written down when it is the first of its kind; its arguments
// read in the driver's callback, which alone has the function's handle.
#pragma once

#include <atomic>
#include <cstdint>

#include "sanitizer/process/process.h"
#include "sanitizer/sources/cupti/abi.h"
#include "sanitizer/sources/cupti/driver.h"
#include "sanitizer/sources/cupti/state.h"

namespace dtype_guard::san::cupti {

struct LaunchSettings {
  Driver driver;
  bool times_casts = false;
  // Counts subscriptions: a thread may have been inside a launch when the last one ended.
  std::atomic<std::uint32_t> session{0};
};

// A callback of a launch entry point, or of a graph launch. `watching` is false while watching is switched
// off.
void on_launch(Process& process, State& known, const LaunchSettings& settings, std::uint32_t domain,
               std::uint32_t id, const CallbackData& call, bool watching);

// A callback about graph nodes or executable graphs.
void on_graph(Process& process, State& known, std::uint32_t id, const void* resource);

}  // namespace dtype_guard::san::cupti
