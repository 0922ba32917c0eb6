#include "sanitizer/sources/cupti/cast_times.h"

namespace dtype_guard::san::cupti {

namespace {
constexpr std::int32_t kNotCapturing = 0;
}

bool CastTimes::prepare(const Driver& driver, Timer& timer, const void* context) {
  if (timer.begin != nullptr) return timer.context == context;
  timer.context = context;
  return driver.create_event(&timer.begin, 0) == 0 && driver.create_event(&timer.end, 0) == 0;
}

std::uint32_t CastTimes::start(const Driver& driver, const void* context, void* stream) {
  std::int32_t capturing = 0;
  if (driver.is_capturing(stream, &capturing) != 0 || capturing != kNotCapturing) return 0;
  for (int round = 0; round < 8; ++round) {
    const std::uint32_t ticket = next_.fetch_add(1, std::memory_order_relaxed) + 1;
    Timer& timer = timer_of(ticket);
    // A cast that fed no attention was never claimed; by now none will.
    std::uint32_t state = timer.state.load(std::memory_order_acquire);
    if ((state != kFree && state != kStopped) || !timer.state.compare_exchange_strong(state, kStarting))
      continue;
    if (timer.begin != nullptr && timer.context != context) {
      timer.state.store(kFree, std::memory_order_release);
      continue;
    }
    timer.ticket.store(ticket, std::memory_order_relaxed);
    if (prepare(driver, timer, context) && driver.record_event(timer.begin, stream) == 0) return ticket;
    timer.state.store(kBroken, std::memory_order_release);
    return 0;
  }
  return 0;
}

void CastTimes::stop(const Driver& driver, std::uint32_t ticket, void* stream) {
  if (ticket == 0) return;
  Timer& timer = timer_of(ticket);
  const bool good = driver.record_event(timer.end, stream) == 0;
  timer.state.store(good ? kStopped : kBroken, std::memory_order_release);
}

void CastTimes::claim(std::uint32_t ticket, std::uint32_t link) {
  if (ticket == 0) return;
  Timer& timer = timer_of(ticket);
  std::uint32_t state = kStopped;
  if (timer.ticket.load(std::memory_order_relaxed) != ticket ||
      !timer.state.compare_exchange_strong(state, kStarting))
    return;
  timer.link = link;
  timer.state.store(kClaimed, std::memory_order_release);
}

void CastTimes::collect(const Driver& driver, CastLinks& links) {
  for (Timer& timer : timers_) {
    std::uint32_t state = kClaimed;
    if (timer.state.load(std::memory_order_relaxed) != kClaimed || driver.query_event(timer.end) != 0 ||
        !timer.state.compare_exchange_strong(state, kStarting, std::memory_order_acq_rel))
      continue;
    float milliseconds = 0;
    if (driver.elapsed_time(&milliseconds, timer.begin, timer.end) == 0 && milliseconds >= 0)
      links.add_time(timer.link, static_cast<std::uint64_t>(static_cast<double>(milliseconds) * 1e6));
    timer.state.store(kFree, std::memory_order_release);
  }
}

}  // namespace dtype_guard::san::cupti
