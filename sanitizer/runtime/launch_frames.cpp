#include "sanitizer/runtime/launch_frames.h"

#include "sanitizer/capture/stack.h"
#include "sanitizer/runtime/call_frames.h"
#include "sanitizer/runtime/journal_writer.h"
#include "sanitizer/runtime/settings.h"

namespace dtype_guard::san {

namespace {

// Names are cut rather than lost; the rest of the frame needs room too.
constexpr std::size_t kLongestName = 8000;

}  // namespace

void record_launch(Process& process, std::uint32_t index, std::string_view kernel) {
  QuietSection quiet;
  ScratchLease lease(process);
  Scratch* scratch = lease.get();
  if (scratch == nullptr || !open_journal(process, *scratch)) return;
  const CapturedStack stack = capture_here(*scratch);
  (void)write_launch(
      process, *scratch, index,
      std::string_view(kernel.data(), kernel.size() < kLongestName ? kernel.size() : kLongestName), stack);
}

void write_launch_counts(Process& process, Scratch& scratch) {
  for (std::uint32_t i = 0; i < cupti::Launches::kSlots; ++i) {
    const std::uint64_t count = process.launches.count_of(i);
    if (count < 2) continue;
    FrameBuilder frame(scratch.frame, FrameType::kLaunches);
    frame.u32(i).u64(count);
    (void)append_frame(process, frame, scratch);
  }
}

void record_source(Process& process, const SourceState& state) {
  QuietSection quiet;
  ScratchLease lease(process);
  if (lease.get() != nullptr && open_journal(process, *lease.get()))
    write_source(process, *lease.get(), state);
}

void write_source(Process& process, Scratch& scratch, const SourceState& state) {
  FrameBuilder frame(scratch.frame, FrameType::kSource);
  frame.text(state.name)
      .u32(state.on ? 1 : 0)
      .text(state.reason)
      .u64(state.graph_nodes)
      .u64(state.graph_launches);
  (void)append_frame(process, frame, scratch);
}

}  // namespace dtype_guard::san
