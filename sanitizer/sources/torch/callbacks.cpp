#include "sanitizer/sources/torch/callbacks.h"

#include "sanitizer/contracts/own_contracts.h"
#include "sanitizer/runtime/watching.h"
#include "sanitizer/sources/torch/autograd_nodes.h"
#include "sanitizer/sources/torch/calls.h"
#include "sanitizer/sources/torch/compiled_regions.h"
#include "sanitizer/sources/torch/forward_lines.h"
#include "sanitizer/sources/torch/operators.h"
#include "sanitizer/sources/torch/origin_windows.h"
#include "sanitizer/sources/torch/origins.h"
#include "sanitizer/sources/torch/thread_records.h"
#include "sanitizer/sources/torch/unread_calls.h"

namespace dtype_guard::san::torch {
namespace {

bool is_noting() { return notes_origins.load(std::memory_order_relaxed); }

// A record that is not followed.
[[gnu::cold]] void note_no_room(const Operator& op) {
  if (op.is_call)
    note_unread(record_row(static_cast<std::size_t>(op.record)).api, Unread::kNoRoom);
  else if (op.part != Part::kNode)
    note_unread_record();
}

// A call that a contract speaks of. Inside another one it is that one's part: only what autocast has made of
// the operands is of interest then.
OpenRecord* start_call(ThreadRecords& thread, OpenRecord* outer, const Operator& op, const Record& record,
                       std::uintptr_t caller) {
  if (outer != nullptr && outer->is_attention) {
    if (outer->is_waiting && outer->op->record == op.record) settle_call(*outer, record, caller);
    return nullptr;
  }
  OpenRecord* open = thread.open(op);
  if (open == nullptr) {
    note_no_room(op);
    return nullptr;
  }
  open->is_attention = true;
  begin_forward(*open);
  if (is_noting() && op.is_whole) note_operands(*open, record);
  check_call(*open, record, caller);
  return open;
}

// An operator that a contract does not speak of.
OpenRecord* start_operator(ThreadRecords& thread, OpenRecord* outer, const Operator& op, const Record& record,
                           std::uintptr_t caller) {
  if (outer != nullptr && outer->is_attention) {
    if (outer->is_waiting && op.record >= 0) settle_operator(*outer, op, record);
    return nullptr;
  }
  if (op.part == Part::kRegion && is_noting()) return open_region(thread, op);
  const bool is_part = outer != nullptr && outer->op->is_whole && !outer->has_no_memory;
  const bool notes = is_noting() && op.is_whole && !is_part;
  bool may_raise = !notes && op.record >= 0 && mixes_floats(op, record);
  // Nodes are looked for among the open records where they cannot be read.
  if (!notes && !may_raise && op.part != Part::kFunction && op.part != Part::kNode) return nullptr;
  OpenRecord* open = thread.open(op);
  if (open == nullptr) {
    note_no_room(op);
    return nullptr;
  }
  open->is_part = is_part;
  if (op.part == Part::kFunction) begin_forward(*open);
  if (notes) {
    note_operands(*open, record);
    may_raise = op.record >= 0 && open->may_mix && mixes_floats(op, record);
  }
  if (may_raise) {
    open->is_attention = true;
    check_operator(*open, record);
  } else if (notes && op.record >= 0 && (op.part == Part::kProduct || op.part == Part::kSoftmax)) {
    check_by_hand(*open, record, caller);
  }
  return open;
}

ContextPointer on_start(const Record& record) {
  if (has_timed_windows.load(std::memory_order_relaxed)) close_window_at_record();
  if (!is_watching()) return {nullptr};
  const char* name = libtorch.name(&record);
  if (is_node(name) && are_nodes_read()) return {nullptr};
  const Operator& op = operators.find(name);
  ThreadRecords* thread = thread_records();
  if (thread == nullptr) {
    note_no_room(op);
    return {nullptr};
  }
  OpenRecord* outer = thread->innermost();
  const auto caller = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  if (op.is_call) return {start_call(*thread, outer, op, record, caller)};
  return {start_operator(*thread, outer, op, record, caller)};
}

void on_end(const Record& record, Context* context) {
  if (context == nullptr) return;
  auto& open = *static_cast<OpenRecord*>(context);
  if (open.is_unread) end_unread(open);
  if (open.is_waiting) end_call(open, reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)));
  if (open.has_operands && is_noting() && !open.is_part) note_results(open, record);
  if (open.has_new_operand) note_first_uses(open);
  if (open.op->is_call && has_timed_windows.load(std::memory_order_relaxed)) note_call_in_window();
  if (open.notes_forward) end_forward(open);
  if (open.op->part == Part::kRegion) end_region();
}

}  // namespace

std::uint64_t add_callbacks(const Library& library, bool origins) {
  notes_origins.store(origins, std::memory_order_release);
  Callback callback;
  callback.start = on_start;
  callback.end = on_end;
  callback.scopes[static_cast<std::size_t>(Scope::kFunction)] = true;
  callback.needs_inputs = true;
  callback.needs_outputs = origins;
  return library.add_callback(callback);
}

}  // namespace dtype_guard::san::torch
