// What the library knows about this process: call counters, findings seen, modules written, the open journal.
// All of it lies in one mapping that the kernel wipes in a forked child (wiped_in_child.h), so a
// child, whichever way it was made, starts empty and opens a journal of its own. Fixed size, no locks: slots
// are claimed once by compare-and-swap and then only counted up.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "sanitizer/contracts/contract_table.h"
#include "sanitizer/platform/own_descriptors.h"
#include "sanitizer/platform/system.h"
#include "sanitizer/platform/text_buffer.h"
#include "sanitizer/process/origins.h"
#include "sanitizer/process/place.h"
#include "sanitizer/process/scratch.h"

namespace dtype_guard::san {

inline constexpr std::size_t kAllApis = kFirstWithOptions;
inline constexpr std::size_t kMaxCopies = 64;  // of watched libraries

// One per thread, found by hashing the thread pointer: a plain increment by its owner, no atomic
// read-modify-write. Of a size that is a power of two: then finding a thread's is a shift.
struct alignas(std::bit_ceil(sizeof(std::uint64_t) * (3 + kAllApis))) CallSlot {
  std::atomic<std::uintptr_t> thread;
  // The first two operands of a call that an interceptor has counted and is passing on to a library without a
  // slot. Where that library only forwards it, the kernel's observer must not count it again. `thread` is odd
  // meanwhile, so that only then a call finds its slot on the slow way, and looks.
  std::atomic<const void*> forwarded[2];
  std::atomic<std::uint64_t> calls[kAllApis];
};

static_assert(std::has_single_bit(sizeof(CallSlot)));

// Places of wrong calls whose finding is known: a repeat is counted without unwinding.
struct RepeatSlot {
  std::atomic<std::uint64_t> key;
  std::atomic<std::uint32_t> finding;  // index + 1
  std::atomic<std::uint32_t> seen;
  std::atomic<std::uint32_t> news;       // `seen` at its last new finding
  std::atomic<std::uint32_t> is_shared;  // by several findings
};

// What became of a finding: a lost one is tried again when it occurs again.
enum Recorded : std::uint32_t { kUnderWay = 0, kRecorded, kLost, kBeyondLimit };

struct FindingSlot {
  std::atomic<std::uint64_t> key;
  std::atomic<std::uint64_t> count;
  std::atomic<std::uint64_t> told;      // the newest count that the journal has
  std::atomic<std::uint32_t> recorded;  // Recorded
};

struct ModuleSlot {
  std::atomic<std::uint64_t> key;
  std::atomic<std::uint32_t> recorded;
};

enum class JournalState : std::uint32_t { kNone = 0, kOpening, kOpen, kFailed, kUnwanted };

struct Process {
  static constexpr std::size_t kCallSlots = 1024;
  static constexpr std::size_t kFindingSlots = 4096;
  static constexpr std::size_t kModuleSlots = 1024;
  static constexpr std::size_t kScratches = 16;

  CallSlot calls[kCallSlots];
  std::atomic<std::uint64_t> shared_calls[kAllApis];  // of threads that found no slot
  std::atomic<std::uint64_t> told_calls[kAllApis];    // the newest counts that the journal has
  std::atomic<std::uint32_t> kernel_recorded[kAllApis];
  std::atomic<std::uint64_t> copy_recorded[kMaxCopies];

  FindingSlot findings[kFindingSlots];
  RepeatSlot repeats[kFindingSlots];
  std::atomic<std::uint64_t> finding_count;
  std::atomic<std::uint64_t> unrecorded;  // distinct findings that are not in the journal
  std::atomic<std::uint64_t> lost;        // those of them that could not be written

  ModuleSlot modules[kModuleSlots];

  PlaceSlot places[kPlaceSlots];
  Origins origins;
  std::atomic<std::uint64_t> hook_ns;  // spent in records; the clean path reads no clock
  std::atomic<std::uint64_t> journal_bytes;
  std::atomic<std::uint32_t> journal_full;
  std::atomic<std::uint32_t> loss_reason;  // errno of the first write that failed

  std::uint64_t owner;                 // process id, once the journal is open
  std::atomic<std::uint32_t> journal;  // JournalState
  std::atomic<std::uint32_t> sequence;
  std::atomic<int> descriptor;             // + 1, so that a wiped one is none
  std::atomic<std::uint32_t> open_error;   // errno: no journal can be created, which was told; else 0
  std::atomic<std::uint32_t> described;    // the journal says what the process is
  std::atomic<std::uint32_t> has_control;  // the switch is this process's own (switch.h)
  std::atomic<std::uint32_t> showing;      // journal states that its page does not show yet
  FileIdentity journal_identity;
  bool is_in_memory;  // the journal has no name: only its descriptor leads to it
  bool counts_links;  // the file system tells how many names a file has
  char journal_path[2048];

  Scratch scratches[kScratches];
  DescriptorThread descriptor_thread;
};

// The mapping, made at the first use; nullptr only when there is no memory for it.
Process* process_slow();

inline std::atomic<Process*> process_mapping{nullptr};
inline Process* process() {
  Process* mapped = process_mapping.load(std::memory_order_acquire);
  return mapped != nullptr ? mapped : process_slow();
}

// This thread's slot, claimed if need be; nullptr when all are taken.
CallSlot* claim_call_slot(Process& process, std::uintptr_t thread);

// Where most threads have theirs: what lies there is this thread's if `thread` says so.
[[gnu::always_inline]] inline CallSlot& likely_call_slot(Process& process, std::uintptr_t thread) {
  // Thread control blocks are far apart and aligned, so multiply and keep the high bits.
  std::size_t at = (thread * 0x9e3779b97f4a7c15U) >> 54;
  static_assert(Process::kCallSlots == 1U << (64 - 54));
  return process.calls[at];
}

inline CallSlot* call_slot(Process& process) {
  const auto thread = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
  CallSlot& slot = likely_call_slot(process, thread);
  if (slot.thread.load(std::memory_order_relaxed) == thread) [[likely]]
    return &slot;
  return claim_call_slot(process, thread);
}

// Why there is no journal; false when there is one, or none is wanted, or none was tried yet.
bool tell_journal_problem(const Process& process, TextSink& to);

std::uint64_t total_calls(const Process& process, ApiId api);

// A frame buffer for the time of one record; none when too many threads record at once.
class ScratchLease {
 public:
  explicit ScratchLease(Process& process);
  ~ScratchLease();
  ScratchLease(const ScratchLease&) = delete;
  ScratchLease& operator=(const ScratchLease&) = delete;
  Scratch* get() const { return scratch_; }

 private:
  Scratch* scratch_ = nullptr;
};

}  // namespace dtype_guard::san
