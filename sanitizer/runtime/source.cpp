#include "sanitizer/runtime/source.h"

#include "sanitizer/journal/journal_writer.h"

namespace dtype_guard::san {

void start_sources_late() {
  for (const Source* source : sources()) source->start_late();
}

void describe_sources(Process& process, Scratch& scratch) {
  for (const Source* source : sources()) source->describe(process, scratch);
}

void follow_calls() {
  for (const Source* source : sources()) source->following();
}

void record_source(Process& process, const Source& source) {
  QuietSection quiet;
  ScratchLease lease(process);
  if (lease.get() != nullptr && open_journal(process, *lease.get()))
    write_source(process, *lease.get(), source);
}

void write_source(Process& process, Scratch& scratch, const Source& source) {
  SourceStatus status;
  if (!source.status(status)) return;
  FrameBuilder frame(scratch.frame, FrameType::kSource);
  frame.text(source.name)
      .u32(status.is_on ? 1 : 0)
      .text(status.reason.view())
      .u64(status.graph_nodes)
      .u64(status.graph_launches)
      .u32(status.is_refused ? 1 : 0);
  (void)append_frame(process, frame, scratch);
}

}  // namespace dtype_guard::san
