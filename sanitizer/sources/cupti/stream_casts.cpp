#include "sanitizer/sources/cupti/stream_casts.h"

namespace dtype_guard::san::cupti {

namespace {

bool overlap(const CastArguments& a, const CastArguments& b) {
  return a.out < b.out + b.elements * b.element_size && b.out < a.out + a.elements * a.element_size;
}

}  // namespace

// Tried once, never waited for. Who does not get it leaves word, and what was known of the stream is dropped.
class StreamCasts::Turn {
 public:
  explicit Turn(Slot& slot) : slot_(slot), mine_(slot.taken.exchange(1, std::memory_order_acquire) == 0) {
    if (!mine_) slot.missed.store(1, std::memory_order_release);
    if (mine_) forget_if_missed();
  }
  ~Turn() {
    if (!mine_) return;
    forget_if_missed();
    slot_.taken.store(0, std::memory_order_release);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  explicit operator bool() const { return mine_; }

 private:
  void forget_if_missed() {
    if (slot_.missed.exchange(0, std::memory_order_acquire) != 0)
      slot_.count.store(0, std::memory_order_relaxed);
  }
  Slot& slot_;
  bool mine_;
};

StreamCasts::Slot& StreamCasts::slot_of(const StreamKey& stream) {
  const auto key =
      reinterpret_cast<std::uintptr_t>(stream.stream) * 31 + reinterpret_cast<std::uintptr_t>(stream.context);
  return slots_[(key * 0x9e3779b97f4a7c15U) >> 58];
}
static_assert(StreamCasts::kStreams == 1U << (64 - 58));

void StreamCasts::add(const StreamKey& stream, const StreamCast& cast) {
  Slot& slot = slot_of(stream);
  const Turn turn(slot);
  if (!turn) return;
  std::uint32_t count = slot.count.load(std::memory_order_relaxed);
  if (!(slot.key == stream) || count == kMost) count = 0;
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < count; ++i)
    if (!overlap(slot.casts[i].arguments, cast.arguments)) slot.casts[kept++] = slot.casts[i];
  slot.casts[kept] = cast;
  slot.key = stream;
  slot.count.store(kept + 1, std::memory_order_relaxed);
}

void StreamCasts::end(const StreamKey& stream) {
  Slot& slot = slot_of(stream);
  if (slot.count.load(std::memory_order_relaxed) == 0) return;
  const Turn turn(slot);
  if (turn && slot.key == stream) slot.count.store(0, std::memory_order_relaxed);
}

bool StreamCasts::take(const StreamKey& stream, const std::uint64_t (&inputs)[kInputs],
                       StreamCast (&found)[kInputs]) {
  Slot& slot = slot_of(stream);
  if (slot.count.load(std::memory_order_relaxed) == 0) return false;
  const Turn turn(slot);
  const std::uint32_t count = slot.count.load(std::memory_order_relaxed);
  if (!turn || count == 0 || !(slot.key == stream)) return false;
  bool any = false;
  for (std::size_t role = 0; role < kInputs; ++role) {
    found[role].launch = kNoLaunch;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (slot.casts[i].arguments.out != inputs[role]) continue;
      found[role] = slot.casts[i];
      any = true;
    }
  }
  slot.count.store(0, std::memory_order_relaxed);
  return any;
}

}  // namespace dtype_guard::san::cupti
