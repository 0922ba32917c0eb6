#include "sanitizer/runtime/watching.h"

#include "sanitizer/process/process.h"
#include "sanitizer/runtime/counts.h"
#include "sanitizer/runtime/source.h"
#include "sanitizer/settings/settings.h"

namespace dtype_guard::san {

Watching decide_watching() {
  const Options& options = settings();
  noting_origins.store(options.origins, std::memory_order_relaxed);
  Watching state = options.enabled ? Watching::kOn : Watching::kOff;
  Watching unknown = Watching::kUnknown;
  if (!is_decided()) switch_watching(state == Watching::kOn && options.start != Start::kDormant);
  return watching.compare_exchange_strong(unknown, state, std::memory_order_relaxed) ? state : unknown;
}

}  // namespace dtype_guard::san

// Switches watching on (1) or off (0), as `start` does at the beginning; gives 0, or -1 with enabled=0. What
// was found until then is in the journal with its counts, for a program that reads it while it runs.
extern "C" [[gnu::visibility("default")]] int dtype_san_switch(int on) {
  using namespace dtype_guard::san;
  if (!settings().enabled) return -1;
  (void)decide_watching();
  switch_watching(on != 0);
  for (const Source* source : sources()) source->switched(on != 0);
  if (Process* mapped = process_mapping.load(std::memory_order_acquire)) record_repeats(*mapped);
  return 0;
}
