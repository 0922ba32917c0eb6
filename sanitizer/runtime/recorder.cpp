#include "sanitizer/runtime/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "sanitizer/contracts/dtype_names.h"
#include "sanitizer/contracts/own_contracts.h"
#include "sanitizer/journal/call_frames.h"
#include "sanitizer/journal/journal_writer.h"
#include "sanitizer/journal/modules.h"
#include "sanitizer/platform/clock.h"
#include "sanitizer/process/place.h"
#include "sanitizer/process/tally.h"
#include "sanitizer/runtime/control.h"
#include "sanitizer/runtime/counts.h"
#include "sanitizer/runtime/source.h"
#include "sanitizer/settings/settings.h"

namespace dtype_guard::san {
namespace {

// The time that recording takes, for the report.
class HookTime {
 public:
  explicit HookTime(Process& process) : process_(process), start_(monotonic_ns()) {}
  ~HookTime() { process_.hook_ns.fetch_add(monotonic_ns() - start_, std::memory_order_relaxed); }
  HookTime(const HookTime&) = delete;
  HookTime& operator=(const HookTime&) = delete;

 private:
  Process& process_;
  std::uint64_t start_;
};

// Numbers that DLPack gives no meaning, or an absurd rank: the descriptor is broken, and the kernel says so,
// not we. A dtype that DLPack knows and PyTorch does not is a finding like others.
bool is_broken(const ApiContract& contract, const DLTensor* const* operands) {
  constexpr unsigned kLastCode = 17;
  for (std::size_t i = 0; i < contract.operand_count; ++i) {
    const DLTensor* tensor = operands[i];
    if (tensor == nullptr) continue;
    const DLDataType& dtype = tensor->dtype;
    if (dtype.code > kLastCode || dtype.bits == 0 || dtype.bits > 128 || dtype.lanes == 0) return true;
    if (tensor->ndim < 0 || tensor->ndim > 64) return true;
  }
  return false;
}

// A call whose operands are older than the times in which origins are noted hides none whose origins are
// known.
std::uint64_t finding_key(const WatchedCall& call, const CapturedStack& stack, const FindingDetail& detail) {
  std::uint64_t key = stack.hash(std::uint64_t{detail.forward} << 32 |
                                 static_cast<std::uint64_t>(call.api) << 8 | detail.reinterpreted);
  key = (key ^ detail.without_origin) * 0x9e3779b97f4a7c15U;
  for (std::size_t i = 0; i < contract_of(call.api).operand_count; ++i) {
    std::uint64_t dtype = call.operands[i] != nullptr ? packed_dtype(*call.operands[i]) : 0;
    key = (key ^ dtype) * 0x9e3779b97f4a7c15U;
  }
  return key != 0 ? key : 1;
}

// nullptr when the table is full around there.
FindingSlot* find_slot(Process& process, std::uint64_t key, bool& is_new) {
  constexpr std::size_t kProbes = 256;
  for (std::size_t i = 0; i < kProbes; ++i) {
    FindingSlot& slot = process.findings[(key + i) % Process::kFindingSlots];
    std::uint64_t seen = 0;
    is_new = slot.key.compare_exchange_strong(seen, key, std::memory_order_acq_rel);
    if (is_new || seen == key) return &slot;
  }
  return nullptr;
}

bool is_power_of_two(std::uint64_t number) { return (number & (number - 1)) == 0; }

[[noreturn]] void halt(Process& process, const WatchedCall& call) {
  const ApiContract& contract = contract_of(call.api);
  TextBuffer<512> message;
  message << "halt_on_error: process " << process_id() << " stops at its first finding, '" << contract.name
          << "' called with ";
  for (std::size_t i = 0; i < contract.operand_count; ++i) {
    if (call.operands[i] == nullptr) continue;
    std::string_view dtype = dtype_name(packed_dtype(*call.operands[i]));
    message << (i == 0 ? "" : ", ") << contract.operands[i].role << " "
            << (dtype.empty() ? std::string_view("a dtype that PyTorch lacks") : dtype);
  }
  say(message.view());
  record_end(process);
  if (settings().exitcode != 0) _exit(static_cast<int>(settings().exitcode));
  abort();
}

// Places are told apart more coarsely than stacks, so repeats of a place look at the whole stack: that finds
// the other ways to it. When so many have found nothing new, only every power of two does.
constexpr std::uint32_t kFullLooks = 64;

RepeatSlot& repeat_slot(Process& process, std::uint64_t place) {
  return process.repeats[place % Process::kFindingSlots];
}

// True when the call was a repeat and has been counted. `kind` tells findings of one place apart.
bool count_repeat(Process& process, const WatchedCall& call, std::uint64_t kind) {
  std::uint64_t place = 0;
  if (!known_place(process.places, call, contract_of(call.api).operand_count, place)) return false;
  place += kind;
  RepeatSlot& repeat = repeat_slot(process, place);
  if (repeat.key.load(std::memory_order_acquire) != place) return false;
  std::uint32_t finding = repeat.finding.load(std::memory_order_acquire);
  std::uint32_t seen = repeat.seen.fetch_add(1, std::memory_order_relaxed);
  const std::uint32_t news = repeat.news.load(std::memory_order_relaxed);
  if (finding == 0 || seen - news < kFullLooks || is_power_of_two(seen)) return false;
  std::atomic<std::uint64_t>& count = process.findings[finding - 1].count;
  std::uint64_t before = count.load(std::memory_order_relaxed);
  do {
    if (is_power_of_two(before + 1)) return false;  // that one goes to the journal
  } while (!count.compare_exchange_weak(before, before + 1, std::memory_order_relaxed));
  return true;
}

void remember(Process& process, std::uint64_t place, const FindingSlot& slot, bool is_new) {
  RepeatSlot& repeat = repeat_slot(process, place);
  std::uint64_t none = 0;
  if (!repeat.key.compare_exchange_strong(none, place) && none != place) {
    repeat.finding.store(0, std::memory_order_relaxed);  // another place that falls here: the newer one stays
    repeat.seen.store(0, std::memory_order_relaxed);
    repeat.news.store(0, std::memory_order_relaxed);
    repeat.is_shared.store(0, std::memory_order_relaxed);
    repeat.key.store(place, std::memory_order_release);
  }
  const std::uint32_t number = slot_index(process, slot) + 1;
  const std::uint32_t before = repeat.finding.exchange(number, std::memory_order_acq_rel);
  if (is_new) repeat.news.store(repeat.seen.load(std::memory_order_relaxed), std::memory_order_relaxed);
  if (before != 0 && before != number) repeat.is_shared.store(1, std::memory_order_relaxed);
}

// Findings of one place: from some repeat on, each call there is counted for the one that was looked at last.
void note_shared_counts(Process& process, Scratch& scratch) {
  std::uint64_t places = 0;
  for (const RepeatSlot& repeat : process.repeats)
    places += repeat.is_shared.load(std::memory_order_relaxed) != 0 &&
                      repeat.seen.load(std::memory_order_relaxed) >
                          repeat.news.load(std::memory_order_relaxed) + kFullLooks
                  ? 1
                  : 0;
  if (places == 0) return;
  TextBuffer<256> text;
  text << places << (places == 1 ? " call instruction is" : " call instructions are")
       << " reached in several ways: the counts of the findings there are right in sum, not each, and rare "
          "ways "
          "may be missing";
  write_note(process, scratch, text.view());
}

bool is_unwanted(const Process& process) {
  return process.journal.load(std::memory_order_acquire) ==
         static_cast<std::uint32_t>(JournalState::kUnwanted);
}

// `by` is 1 for a finding that could not be written, -1 for one that could be written later after all.
void count_lost(Process& process, std::uint64_t by) {
  process.unrecorded.fetch_add(by, std::memory_order_relaxed);
  process.lost.fetch_add(by, std::memory_order_relaxed);
  const std::uint32_t reason = process.loss_reason.load(std::memory_order_relaxed);
  TallyPage* page = tally();
  if (page == nullptr || reason == 0 || is_unwanted(process))
    return;  // at max_journal_mb, which says so itself
  page->findings.fetch_add(by, std::memory_order_relaxed);
  keep_reason(page->error, -static_cast<long>(reason));
}

// True when it is this thread's to write the finding: it is new, or was lost before.
bool is_due(Process& process, FindingSlot& slot, bool is_new, std::uint64_t count) {
  if (is_new) {
    if (process.finding_count.fetch_add(1, std::memory_order_relaxed) < settings().max_findings) return true;
    slot.recorded.store(kBeyondLimit, std::memory_order_release);
    process.unrecorded.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  std::uint32_t lost = kLost;
  return is_power_of_two(count) &&
         slot.recorded.compare_exchange_strong(lost, kUnderWay, std::memory_order_acq_rel);
}

void record(Process& process, Scratch& scratch, const WatchedCall& call, std::uint64_t kind,
            const FindingDetail& detail) {
  CapturedStack stack = capture_call(scratch, call);
  std::uint64_t place = learn_place(process.places, call, scratch.stack_words, stack.depth);
  bool is_new = false;
  FindingSlot* slot = find_slot(process, finding_key(call, stack, detail), is_new);
  if (slot == nullptr) {
    process.unrecorded.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  std::uint64_t count = slot->count.fetch_add(1, std::memory_order_relaxed) + 1;
  if (is_due(process, *slot, is_new, count)) {
    const bool written =
        open_journal(process, scratch, Attempt::kAgain) &&
        write_call(process, scratch, FrameType::kFinding, slot_index(process, *slot), call, stack, &detail);
    slot->recorded.store(written ? kRecorded : kLost, std::memory_order_release);
    if (written != is_new) count_lost(process, is_new ? 1 : std::uint64_t(-1));
    if (written && !is_new) {  // the journal could not be written before, and lacks its beginning
      describe_process(process, scratch);
      describe_sources(process, scratch);
    }
  }
  if (!is_new && is_power_of_two(count) && slot->recorded.load(std::memory_order_acquire) == kRecorded) {
    write_count(process, scratch, *slot);
    write_calls(process, scratch, without_options(call.api));
  }
  if (place != 0) remember(process, place + kind, *slot, is_new);
}

// Gives the number of findings in the journal.
std::uint64_t write_counts(Process& process, Scratch& scratch) {
  const std::uint64_t recorded = write_repeats(process, scratch);
  for (const Source* source : sources()) {
    source->finish(process, scratch);
    write_source(process, scratch, *source);
  }
  note_shared_counts(process, scratch);
  write_bare_children(process, scratch);
  return recorded;
}

bool is_open(const Process& process) {
  return process.journal.load(std::memory_order_acquire) == static_cast<std::uint32_t>(JournalState::kOpen);
}

void record_finding(Process& process, const WatchedCall& call, std::uint64_t kind,
                    const FindingDetail& detail) {
  {
    ScratchLease lease(process);
    if (lease.get() != nullptr) {
      record(process, *lease.get(), call, kind, detail);
    } else {
      keep_reason(process.loss_reason, -EAGAIN);
      count_lost(process, 1);
    }
  }
  if (settings().halt_on_error) halt(process, call);
}

}  // namespace

void record_first_call(Process& process, ApiId api, std::uintptr_t kernel) {
  if (process.kernel_recorded[static_cast<std::size_t>(api)].exchange(1, std::memory_order_acq_rel) != 0)
    return;
  QuietSection quiet;
  start_sources_late();
  HookTime time(process);
  ScratchLease lease(process);
  Scratch* scratch = lease.get();
  open_control();
  if (scratch == nullptr || !open_journal(process, *scratch)) return;
  describe_sources(process, *scratch);
  std::uintptr_t address = kernel + 1;  // modules are looked up at address - 1
  record_modules(process, *scratch, &address, scratch->modules, 1);
  FrameBuilder frame(scratch->frame, FrameType::kKernel);
  frame.text(contract_of(api).name).u32(scratch->modules[0]).u64(address - 1);
  (void)append_frame(process, frame, *scratch);
}

void record_violation(Process& process, const WatchedCall& call) {
  record_violation(process, call, find_origins);
}

void record_violation(Process& process, const WatchedCall& call, OriginFinder find) {
  if (is_broken(contract_of(call.api), call.operands)) return;
  if (count_repeat(process, call, 0)) return;
  QuietSection quiet;
  HookTime time(process);
  FindingDetail detail;
  find(process, call, detail);
  record_finding(process, call, 0, detail);
}

void record_reinterpretation(Process& process, const WatchedCall& call, std::size_t at,
                             const Origin& origin) {
  if (count_repeat(process, call, at + 1)) return;
  QuietSection quiet;
  HookTime time(process);
  FindingDetail detail;
  detail.origins[0] = {static_cast<std::uint32_t>(at), origin};
  detail.origin_count = 1;
  detail.reinterpreted = static_cast<std::uint32_t>(at + 1);
  record_finding(process, call, at + 1, detail);
}

std::uint32_t record_site(Process& process, const WatchedCall& call) {
  QuietSection quiet;
  HookTime time(process);
  ScratchLease lease(process);
  Scratch* scratch = lease.get();
  if (scratch == nullptr || !open_journal(process, *scratch)) return 0;
  CapturedStack stack = capture_call(*scratch, call);
  std::uint64_t place = learn_place(process.places, call, scratch->stack_words, stack.depth);
  for (std::size_t i = 0; place != 0 && i < Origins::kSiteProbes; ++i) {
    auto index = static_cast<std::uint32_t>((place + i) % Origins::kSites);
    SiteSlot& slot = process.origins.sites[index];
    std::uint64_t seen = 0;
    if (slot.key.compare_exchange_strong(seen, place, std::memory_order_acq_rel)) {
      // Without its frame a site means nothing: nothing refers to it then.
      bool written = write_call(process, *scratch, FrameType::kSite, index + 1, call, stack, nullptr);
      slot.recorded.store(written ? 1 : 2, std::memory_order_release);
      seen = place;
    }
    if (seen == place) return slot.recorded.load(std::memory_order_acquire) == 1 ? index + 1 : 0;
  }
  if (process.origins.full.exchange(1, std::memory_order_relaxed) == 0) {
    write_note(process, *scratch,
               "calls come from more places than are told apart; what later ones wrote has no origin");
  }
  return 0;
}

void record_process(Process& process, const char* remark, bool keeps_descriptor) {
  QuietSection quiet;
  ScratchLease lease(process);
  if (lease.get() == nullptr || !open_journal(process, *lease.get())) return;
  if (remark != nullptr) {
    write_note(process, *lease.get(), remark);
  }
  if (!keeps_descriptor) release_journal(process);
}

void record_exec(Process& process, std::string_view path) {
  QuietSection quiet;
  if (!is_open(process)) return;
  ScratchLease lease(process);
  if (lease.get() == nullptr) return;
  Scratch& scratch = *lease.get();
  (void)write_counts(process, scratch);
  FrameBuilder frame(scratch.frame, FrameType::kExec);
  frame.text(path).u64(process.hook_ns.load(std::memory_order_relaxed));
  (void)append_frame(process, frame, scratch);
}

std::uint64_t record_end(Process& process) {
  QuietSection quiet;
  std::uint64_t findings = process.finding_count.load(std::memory_order_relaxed);
  if (!is_open(process)) return findings;
  ScratchLease lease(process);
  if (lease.get() == nullptr) return findings;
  Scratch& scratch = *lease.get();
  const std::uint64_t recorded = write_counts(process, scratch);
  if (const char* problem = python_problem()) {
    write_note(process, scratch, "no Python frames in the stacks: ", problem);
  }
  FrameBuilder frame(scratch.frame, FrameType::kClose);
  // Other threads may be about to write one: the reader finds at least as many as are counted here.
  const std::uint64_t unrecorded = process.unrecorded.load(std::memory_order_relaxed);
  frame.u64(recorded + unrecorded).u64(unrecorded);
  frame.u64(process.hook_ns.load(std::memory_order_relaxed));
  const std::uint32_t reason = process.loss_reason.load(std::memory_order_relaxed);
  frame.u64(process.lost.load(std::memory_order_relaxed));
  frame.text(reason != 0 ? error_text(-static_cast<long>(reason))
             : process.journal_full.load(std::memory_order_relaxed) != 0 ? "option max_journal_mb"
                                                                         : "");
  (void)append_frame(process, frame, scratch);
  release_journal(process);
  return findings;
}

}  // namespace dtype_guard::san
