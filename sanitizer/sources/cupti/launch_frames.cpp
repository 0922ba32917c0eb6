#include "sanitizer/sources/cupti/launch_frames.h"

#include "sanitizer/contracts/own_contracts.h"
#include "sanitizer/journal/call_frames.h"
#include "sanitizer/journal/journal_writer.h"
#include "sanitizer/settings/settings.h"

namespace dtype_guard::san::cupti {

namespace {

// Names are cut rather than lost; the rest of the frame needs room too.
constexpr std::size_t kLongestName = 8000;

std::string_view cut(std::string_view kernel) {
  return {kernel.data(), kernel.size() < kLongestName ? kernel.size() : kLongestName};
}

}  // namespace

void record_launch(Process& process, const LaunchRecord& launch) {
  QuietSection quiet;
  ScratchLease lease(process);
  Scratch* scratch = lease.get();
  if (scratch == nullptr || !open_journal(process, *scratch)) return;
  // Inside a watched call, that call's stack: the library's own frames lead nowhere.
  const CapturedStack stack =
      launch.call.operands != nullptr ? capture_call(*scratch, launch.call) : capture_here(*scratch);
  (void)write_launch(
      process, *scratch, FrameType::kLaunch, launch.index, cut(launch.kernel), launch.call, stack,
      [](FrameBuilder& frame, const void* context) {
        const auto& record = *static_cast<const LaunchRecord*>(context);
        frame.text(record.call.operands != nullptr ? contract_of(record.call.api).name : "");
        frame.u32(record.has_arguments ? 1 : 0).u32(static_cast<std::uint32_t>(record.match_count));
        for (std::size_t i = 0; i < record.match_count; ++i) {
          const LaunchRecord::Match& match = record.matches[i];
          frame.u32(match.operand).u32(match.parameter).u32(match.offset);
        }
      },
      &launch);
}

void record_cast(Process& process, std::uint32_t index, std::string_view attention, const CastLink& link) {
  QuietSection quiet;
  ScratchLease lease(process);
  Scratch* scratch = lease.get();
  if (scratch == nullptr || !open_journal(process, *scratch)) return;
  const CapturedStack stack = capture_here(*scratch);
  (void)write_launch(
      process, *scratch, FrameType::kCast, index, cut(attention), {ApiId::kCount, nullptr, 0}, stack,
      [](FrameBuilder& frame, const void* context) {
        const auto& one = *static_cast<const CastLink*>(context);
        frame.u32(one.cast).u32(one.attention).u32(one.role);
        frame.u64(one.arguments.elements).u32(one.arguments.element_size);
        frame.u32(one.arguments.x_type).u32(one.arguments.out_type);
      },
      &link);
}

void write_launch_counts(Process& process, Scratch& scratch, State& known) {
  known.graphs.settle(known.launches);
  for (std::uint32_t i = 0; i < Launches::kSlots; ++i) {
    const LaunchSlot& slot = known.launches[i];
    const std::uint64_t captured = slot.captured.load(std::memory_order_relaxed);
    if (known.launches.count_of(i) < 2 && captured == 0) continue;
    FrameBuilder frame(scratch.frame, FrameType::kLaunches);
    frame.u32(i).u64(known.launches.count_of(i));
    frame.u64(captured).u64(slot.replayed.load(std::memory_order_relaxed));
    (void)append_frame(process, frame, scratch);
  }
  for (std::uint32_t i = 0; i < CastLinks::kSlots; ++i) {
    const CastLinkSlot& slot = known.cast_links[i];
    if (slot.count.load(std::memory_order_relaxed) == 0) continue;
    FrameBuilder frame(scratch.frame, FrameType::kCasts);
    frame.u32(i).u64(slot.count.load(std::memory_order_relaxed));
    frame.u64(slot.timed.load(std::memory_order_relaxed)).u64(slot.ns.load(std::memory_order_relaxed));
    (void)append_frame(process, frame, scratch);
  }
}

}  // namespace dtype_guard::san::cupti
