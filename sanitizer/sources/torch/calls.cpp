#include "sanitizer/sources/torch/calls.h"

#include <bit>

#include "sanitizer/contracts/own_contracts.h"
#include "sanitizer/journal/journal_writer.h"
#include "sanitizer/platform/loaded_object.h"
#include "sanitizer/process/call_counts.h"
#include "sanitizer/runtime/counts.h"
#include "sanitizer/runtime/recorder.h"
#include "sanitizer/runtime/source.h"
#include "sanitizer/sources/torch/accepted_calls.h"
#include "sanitizer/sources/torch/call_operands.h"
#include "sanitizer/sources/torch/forward_lines.h"
#include "sanitizer/sources/torch/library.h"
#include "sanitizer/sources/torch/origin_windows.h"
#include "sanitizer/sources/torch/origins.h"
#include "sanitizer/sources/torch/recasts.h"
#include "sanitizer/sources/torch/sites.h"
#include "sanitizer/sources/torch/stand_ins.h"
#include "sanitizer/sources/torch/storage_life.h"
#include "sanitizer/sources/torch/unread_calls.h"
#include "sanitizer/sources/torch/written_casts.h"

namespace dtype_guard::san::torch {
namespace {

const RecordRow& row_of(const OpenRecord& open) {
  const RecordRow& row = record_row(static_cast<std::size_t>(open.op->record));
  return open.is_older ? kRecords[row.older] : row;
}

void wait_for_end(OpenRecord& open, const CallOperands& operands) {
  open.is_waiting = true;
  open.thread->waiting = operands;
}

// The operators that the operands came through go into the journal before the finding that names them.
void find_origins_of(Process& process, const WatchedCall& call, FindingDetail& detail) {
  ScratchLease lease(process);
  if (lease.get() == nullptr || !open_journal(process, *lease.get())) return;
  write_stand_ins(process, *lease.get());
  const ApiContract& contract = contract_of(call.api);
  for (std::size_t i = 0; i < contract.operand_count; ++i) {
    const DLTensor* tensor = call.operands[i];
    if (tensor == nullptr) continue;
    ScalarType dtype = 0;
    while (dtype < kScalarTypeCount && kScalarTypes[dtype].packed != packed_dtype(*tensor)) ++dtype;
    const auto storage = reinterpret_cast<std::uintptr_t>(tensor->data);
    if (storage == 0) {
      detail.without_origin |= 1U << i;
      detail.first_uses[i] = kHasNoMemory;
      continue;
    }
    const OriginChain chain = origin_of(storage, dtype);
    if (chain.is_empty()) {
      if (!storage_life.is_on()) continue;
      detail.without_origin |= 1U << i;
      const FirstUse use = first_use_of(storage, dtype);
      sites.write(process, *lease.get(), use.site);
      detail.first_uses[i] = !use.was_seen ? kNoUseSeen : use.site != 0 ? journal_site(use.site) : 0;
      continue;
    }
    sites.write(process, *lease.get(), chain);
    Origin origin;
    origin.dtype = packed_dtype(*tensor);
    for (std::size_t j = kChainLength; j-- > 0;)
      if (sites.at(chain.sites[j]) != nullptr)
        origin.chain = origin.chain.after(journal_site(chain.sites[j]));
    detail.origins[detail.origin_count++] = {static_cast<std::uint32_t>(i), origin};
  }
}

void find_detail(Process& process, const WatchedCall& call, FindingDetail& detail) {
  find_origins_of(process, call, detail);
  detail.forward = find_forward(process);
}

// Whether the call leaves by a C++ exception, as what libtorch raises does.
bool cpp_raises() { return libtorch.uncaught_exceptions != nullptr && libtorch.uncaught_exceptions() > 0; }

// Whether a Python exception is on its way through this thread, which holds the GIL as a Function does.
bool python_raises() {
  struct Python {
    int (*has_gil)() = nullptr;
    void* (*error)() = nullptr;
  } python;
  each_loaded_object([&](const LoadedObject& object) {
    void* has_gil = object.find_function("PyGILState_Check");
    void* error = object.find_function("PyErr_Occurred");
    if (has_gil == nullptr || error == nullptr) return true;
    python = {reinterpret_cast<int (*)()>(has_gil), reinterpret_cast<void* (*)()>(error)};
    return false;
  });
  return python.has_gil != nullptr && python.has_gil() != 0 && python.error() != nullptr;
}

[[gnu::noinline, gnu::cold]] void record_wrong(ApiId api, const CallOperands& operands,
                                               std::uintptr_t caller) {
  if (Process* mapped = process()) record_violation(*mapped, {api, operands.list(), caller}, find_detail);
}

// Tensors that stand for others have dtypes, too: a call that is refused for them raises there as any other.
bool may_be_refused(const RecordRow& row, const Record& record, CallOperands& operands) {
  const ApiContract& contract = contract_of(row.api);
  return operands.read_dtypes(row, contract, record) && !operands.accepted(contract) &&
         !libtorch.may_autocast(kMeta);
}

template <typename Visit>
void each_outer(const OpenRecord& open, Visit visit) {
  OpenRecord* outer = open.outer;
  for (std::size_t i = 0; i < ThreadRecords::kRecords && outer != nullptr; ++i, outer = outer->outer)
    if (outer->is_open.load(std::memory_order_acquire)) visit(*outer);
}

// What such an operator stands for may be called inside, with memory: then that is looked at in its place.
// False where this is inside of another such one, which is told of.
bool begin_unread(OpenRecord& open) {
  open.has_no_memory = true;
  open.is_attention = false;
  open.is_unread = true;
  each_outer(open, [&](const OpenRecord& outer) { open.is_unread = open.is_unread && !outer.is_unread; });
  return open.is_unread;
}

void look_inside(const OpenRecord& open) {
  each_outer(open, [](OpenRecord& outer) {
    if (outer.is_unread) outer.is_unread = outer.is_waiting = false;
  });
}

// The journal has the first call at once, and how many there were at powers of two of a thread's: a
// notebook's kernel or a rank that a signal ends has no closing record.
void note_call(Process& process, ApiId api, std::uintptr_t caller) {
  CallSlot* slot = call_slot(process);
  if (count_call(process, slot, api)) return record_first_call(process, api, caller);
  if (slot == nullptr) return;
  const std::uint64_t count = slot->calls[static_cast<std::size_t>(api)].load(std::memory_order_relaxed);
  if (std::has_single_bit(count)) record_calls(process, api);
}

bool is_implied(const DLTensor& tensor) {
  ScalarType dtype = 0;
  while (dtype < kScalarTypeCount && kScalarTypes[dtype].packed != packed_dtype(tensor)) ++dtype;
  const OriginChain chain = origin_of(reinterpret_cast<std::uintptr_t>(tensor.data), dtype);
  return (chain.flags & kImplied) != 0 && kind_of(chain.sites[0]) == SiteKind::kMixed;
}

// Accepted, but computed in float32 because an operator widened q, k or v without being asked to.
bool is_widened_attention(const ApiContract& contract, const CallOperands& operands) {
  constexpr std::size_t kInputs = 3;
  if (!storage_life.is_on() || contract.operand_count < kInputs || !same_text(contract.operands[0].role, "q"))
    return false;
  for (std::size_t i = 0; i < kInputs; ++i)
    if (operands.list()[i] != nullptr && is_implied(*operands.list()[i])) return true;
  return false;
}

}  // namespace

void check_call(OpenRecord& open, const Record& record, std::uintptr_t caller) {
  if (has_timed_windows.load(std::memory_order_relaxed) && has_opened_window()) return;
  const RecordRow& row = row_of(open);
  const ApiContract& contract = contract_of(row.api);
  CallOperands operands;
  if (!operands.read(row, contract, record)) {
    if (begin_unread(open) && !row.only_if_raised && may_be_refused(row, record, operands))
      wait_for_end(open, operands);
    return;
  }
  look_inside(open);
  Process* mapped = process();
  if (mapped == nullptr) return;
  note_call(*mapped, row.api, caller);
  const bool is_accepted = operands.accepted(contract);
  if (is_accepted) {
    if (is_widened_attention(contract, operands) && !libtorch.may_autocast(operands.device_type()))
      return record_wrong(row.api, operands, caller);
    open.is_older = row.older >= 0 && !operands.accepted(contract_of(kRecords[row.older].api));
    if (open.is_older) return wait_for_end(open, operands);
    return note_accepted(*mapped, row.api, operands, caller);
  }
  if (row.only_if_raised || libtorch.may_autocast(operands.device_type()))
    return wait_for_end(open, operands);
  record_wrong(row.api, operands, caller);
}

bool check_bound_call(ApiId api, const TensorImpl* const* tensors, std::uintptr_t caller) {
  const ApiContract& contract = contract_of(api);
  CallOperands operands;
  if (!operands.read(contract, tensors)) return true;
  Process* mapped = process();
  if (mapped == nullptr) return true;
  note_call(*mapped, api, caller);
  if (operands.accepted(contract)) {
    note_accepted(*mapped, api, operands, caller);
    return true;
  }
  if (libtorch.may_autocast(operands.device_type())) return false;
  record_wrong(api, operands, caller);
  return true;
}

bool mixes_floats(const Operator& op, const Record& record) {
  const RecordRow& row = record_row(static_cast<std::size_t>(op.record));
  return mixes_floats(row, contract_of(row.api), record);
}

void check_operator(OpenRecord& open, const Record& record) {
  const RecordRow& row = row_of(open);
  CallOperands operands;
  const bool is_read = operands.read(row, contract_of(row.api), record);
  if (is_read)
    look_inside(open);
  else if (!begin_unread(open) || !may_be_refused(row, record, operands))
    return;
  wait_for_end(open, operands);
  open.thread->mixes_inside = open.op;
}

void check_by_hand(OpenRecord& open, const Record& record, std::uintptr_t caller) {
  bool has_weights = false, is_wide = false;
  OriginChain cast;
  const bool is_softmax = open.op->part == Part::kSoftmax;
  for (std::size_t i = 0; i < open.operand_count; ++i) {
    const OriginChain& chain = open.operands[i].origin;
    const std::uint8_t flags = chain.flags;
    has_weights = has_weights || is_softmax || (flags & kWeightsOfValues) != 0;
    is_wide = is_wide ||
              (is_softmax ? (flags & kWideScores) != 0 : (flags & (kImplied | kWeightsOfValues)) == kImplied);
    if (is_softmax ? (flags & kCastScores) != 0 : (flags & (kCast | kWeightsOfValues)) == kCast) cast = chain;
  }
  if (!has_weights || (!is_wide && cast.is_empty())) return;
  const RecordRow& row = row_of(open);
  CallOperands operands;
  if (!operands.read(row, contract_of(row.api), record)) return;
  if (libtorch.may_autocast(operands.device_type())) return;
  if (is_wide) return record_wrong(row.api, operands, caller);
  bool is_part_of_call = false;  // of tensors that stand for these: its casts are PyTorch's
  each_outer(open, [&](const OpenRecord& outer) { is_part_of_call = is_part_of_call || outer.op->is_call; });
  if (!is_part_of_call) note_written_cast(cast);
}

// Autocast casts in an operator's first record and calls the operator again; of one that is on none of its
// lists (einsum) it does so for the parts. What raises after that has another reason than the dtypes.
void settle_operator(OpenRecord& waiting, const Operator& op, const Record& inner) {
  if (!row_of(waiting).is_operator) return;
  if (mixes_floats(op, inner))
    waiting.thread->mixes_inside = &op;
  else if (waiting.thread->mixes_inside == &op)
    waiting.is_waiting = false;
}

void end_unread(const OpenRecord& open) {
  const RecordRow& row = row_of(open);
  if (!row.is_operator) note_unread(row.api, Unread::kNoMemory);
}

void settle_call(OpenRecord& waiting, const Record& inner, std::uintptr_t caller) {
  const RecordRow& row = row_of(waiting);
  const ApiContract& contract = contract_of(row.api);
  CallOperands operands;
  if (!operands.read(row, contract, inner) || !operands.accepted(contract)) return;
  waiting.is_waiting = false;
  if (!waiting.is_older) note_recast(*waiting.op, contract, waiting.thread->waiting, operands);
  if (Process* mapped = row.is_operator ? nullptr : process())
    note_accepted(*mapped, row.api, operands, caller);
}

void end_call(OpenRecord& open, std::uintptr_t caller) {
  open.is_waiting = false;
  const RecordRow& row = row_of(open);
  // Autocast may recast the parts of an operator that is on none of its lists itself.
  const bool may_be_right = row.only_if_raised || row.has_weights || open.is_unread;
  const CallOperands& operands = open.thread->waiting;
  const bool raises = cpp_raises() || python_raises();
  if (!may_be_right || (raises && !were_taken(row.api, operands)))
    return record_wrong(row.api, operands, caller);
  if (raises || row.is_operator || open.is_unread) return;
  if (Process* mapped = process()) {
    note_accepted(*mapped, row.api, operands, caller);
    note_taken(*mapped, row.api, operands);
  }
}

}  // namespace dtype_guard::san::torch
