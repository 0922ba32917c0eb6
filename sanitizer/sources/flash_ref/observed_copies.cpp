#include "sanitizer/sources/flash_ref/observed_copies.h"

#include <flash_ref/observer.h>
#include <sched.h>

#include <cstring>

#include "sanitizer/journal/journal_writer.h"
#include "sanitizer/journal/modules.h"
#include "sanitizer/platform/loaded_object.h"
#include "sanitizer/runtime/recorder.h"
#include "sanitizer/runtime/source.h"
#include "sanitizer/settings/settings.h"
#include "sanitizer/sources/flash_ref/call_check.h"
#include "sanitizer/sources/flash_ref/output_notes.h"

namespace dtype_guard::san {
namespace {

constexpr std::size_t kMaxApis = 64;  // of one copy

struct Copy;

// What is done with an event.
using See = void (*)(Copy&, const flash_ref_call_event&);

// Of a function that has no contract here, or another number of tensors than it.
void see_nothing(Copy&, const flash_ref_call_event&) {}

struct Copy {
  std::atomic<const flash_ref_observer_slot*> slot{nullptr};
  std::uintptr_t low = 0, high = 0;  // of the object that it lies in
  flash_ref_observer observer = {};
  std::atomic<See> see[kMaxApis] = {};  // by the copy's own numbers
  ApiId api[kMaxApis] = {};
};
// Constant: a copy may announce itself before our constructors run.
constinit Copy copies[kMaxCopies];
constinit std::atomic<bool> changing{false};
constinit std::atomic<bool> telling_of_calls{false};

// An interceptor has seen this very call already.
bool is_forwarded(const CallSlot* slot, const flash_ref_call_event& event) {
  if (slot == nullptr || slot->thread.load(std::memory_order_relaxed) % 2 == 0) return false;
  return slot->forwarded[0].load(std::memory_order_relaxed) == event.tensors[0] &&
         slot->forwarded[1].load(std::memory_order_relaxed) == event.tensors[1];
}

struct ObservedCall {
  const Copy& copy;
  const flash_ref_call_event& event;

  const DLTensor* const* operands() const { return event.tensors; }
  const void* options() const { return event.options; }
  std::uintptr_t caller() const { return reinterpret_cast<std::uintptr_t>(event.caller); }
  std::uintptr_t kernel() const { return copy.low; }
};

template <ApiId id>
[[gnu::always_inline]] inline void see_with(Process& process, CallSlot* slot, const Copy& copy,
                                            const flash_ref_call_event& event) {
  if (event.phase == FLASH_REF_BEFORE) {
    before_call<id>(process, slot, ObservedCall{copy, event});
  } else {
    after_call<id>(process, event.tensors, reinterpret_cast<std::uintptr_t>(event.caller), event.status);
  }
}

// With counters that are still to be had, do not lie where most lie, or are marked: the call may be
// forwarded.
template <ApiId id>
[[gnu::noinline]] void see_elsewhere(Copy& copy, const flash_ref_call_event& event) {
  Process* mapped = process();
  if (mapped == nullptr) return;
  CallSlot* slot = call_slot(*mapped);
  if (!is_forwarded(slot, event)) see_with<id>(*mapped, slot, copy, event);
}

// What is rare is jumped to, here and below it, so that the clean path saves no registers.
template <ApiId id>
[[gnu::aligned(64)]] void see(Copy& copy, const flash_ref_call_event& event) {
  Process& mapped = *process_mapping.load(std::memory_order_acquire);
  const auto thread = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
  CallSlot& slot = likely_call_slot(mapped, thread);
  if (slot.thread.load(std::memory_order_relaxed) != thread) [[unlikely]]
    return see_elsewhere<id>(copy, event);
  if (reinterpret_cast<std::uintptr_t>(&slot) == 0) __builtin_unreachable();  // saves asking below
  see_with<id>(mapped, &slot, copy, event);
}

// The first call of a function of this copy: what holds for all of them is looked at once.
template <ApiId id>
void see_first(Copy& copy, const flash_ref_call_event& event) {
  if (process() == nullptr) return;
  const See next = event.tensor_count == kContract<id>.operand_count ? see<id> : see_nothing;
  copy.see[event.api_index].store(next, std::memory_order_release);
  next(copy, event);
}

template <std::size_t own>
void see_own(Copy& copy, const flash_ref_call_event& event) {
  constexpr auto kApi = static_cast<ApiId>(kApiCount + own);
  Process* mapped = process();
  if (mapped == nullptr || event.tensor_count != contract_of(kApi).operand_count) return;
  WatchedCall call{kApi, event.tensors, reinterpret_cast<std::uintptr_t>(event.caller)};
  if (event.phase == FLASH_REF_BEFORE) {
    before_own_call(*mapped, call, copy.low);
  } else if (event.status == 0 && noting_origins.load(std::memory_order_relaxed)) {
    note_outputs(*mapped, call);
  }
}

constexpr See kSee[] = {
#define DTYPE_SAN_API(name, parameters, arguments, operands) see_first<ApiId::name>,
#include "sanitizer/sources/flash_ref/apis.inc"
#undef DTYPE_SAN_API
};

template <std::size_t... own>
See own_see(std::size_t index, std::index_sequence<own...>) {
  static constexpr See kOwn[] = {see_own<own>...};
  return kOwn[index];
}

// What is done with a function of this name, and the contract's number.
void find_see(const char* name, See& see, ApiId& api) {
  see = see_nothing;
  for (std::size_t i = 0; i < kApiCount + own_contract_count(); ++i) {
    if (std::strcmp(contract_of(static_cast<ApiId>(i)).name, name) != 0) continue;
    api = static_cast<ApiId>(i);
    see = i < kApiCount ? kSee[i] : own_see(i - kApiCount, std::make_index_sequence<kMaxOwnApis>());
    return;
  }
}

// Sources are told that a call begins or ends. Apart, so that the clean path keeps nothing on the stack.
void see_and_tell(Copy& copy, const flash_ref_call_event& event) {
  start_sources_late();
  const ApiId api = copy.api[event.api_index];
  const bool is_watched = copy.see[event.api_index] != see_nothing && event.tensor_count > 0 &&
                          event.tensor_count == contract_of(api).operand_count;
  Process* mapped = process();
  CallSlot* slot = mapped != nullptr ? call_slot(*mapped) : nullptr;
  if (slot != nullptr && event.phase != FLASH_REF_BEFORE) {
    for (const Source* source : sources()) source->left(*mapped, *slot);
  } else if (slot != nullptr && is_watched) {
    const WatchedCall call{api, event.tensors, reinterpret_cast<std::uintptr_t>(event.caller)};
    for (const Source* source : sources()) source->entered(*mapped, *slot, call);
  }
  copy.see[event.api_index].load(std::memory_order_acquire)(copy, event);
}

void notify(void* context, const flash_ref_call_event* event);

[[gnu::noinline, gnu::cold]] void notify_first(void* context, const flash_ref_call_event* event) {
  (void)decide_watching();
  notify(context, event);
}

// Of a copy with no more functions than there is room for, while sources are not told of calls.
[[gnu::aligned(64)]] void notify(void* context, const flash_ref_call_event* event) {
  if (!is_switched_on()) [[unlikely]]
    return is_decided() ? void() : notify_first(context, event);
  Copy& copy = *static_cast<Copy*>(context);
  copy.see[event->api_index].load(std::memory_order_acquire)(copy, *event);
}

void notify_and_tell(void* context, const flash_ref_call_event* event) {
  if (is_watching() && event->api_index < kMaxApis) see_and_tell(*static_cast<Copy*>(context), *event);
}

void notify_of_many(void* context, const flash_ref_call_event* event) {
  if (event->api_index < kMaxApis) notify(context, event);
}

// Also after the observer was added: the copy reads it with each call.
void choose_notify(Copy& copy, const flash_ref_observer_slot& slot) {
  const auto chosen = telling_of_calls.load()     ? notify_and_tell
                      : slot.api_count > kMaxApis ? notify_of_many
                                                  : notify;
  __atomic_store_n(&copy.observer.notify, chosen, __ATOMIC_RELEASE);
}

struct Range {
  std::uintptr_t low = 0, high = 0;
};

Range object_of(std::uintptr_t address) {
  Range range;
  const auto look_at = [&](const LoadedObject& object) {
    if (!object.contains(address)) return true;
    object.range(range.low, range.high);
    return false;
  };
  each_loaded_object(look_at);
  if (range.high == 0) each_foreign_object(look_at);
  return range;
}

// An entry of its own, or that of a copy whose object is gone.
Copy* free_entry() {
  for (Copy& copy : copies) {
    const flash_ref_observer_slot* slot = copy.slot.load(std::memory_order_relaxed);
    if (slot == nullptr || object_of(reinterpret_cast<std::uintptr_t>(slot)).high == 0) return &copy;
  }
  return nullptr;
}

bool any_wants_calls() {
  for (const Source* source : sources())
    if (source->wants_calls()) return true;
  return false;
}

bool usable(const flash_ref_observer_slot& slot) {
  return slot.struct_size >= sizeof slot && slot.version >= 1 && slot.add != nullptr;
}

// True when its calls will be seen.
bool observe(const flash_ref_observer_slot& slot, Range range) {
  if (!usable(slot)) return false;
  Copy* entry = nullptr;
  for (Copy& copy : copies)
    if (copy.slot.load(std::memory_order_relaxed) == &slot) entry = &copy;
  // At the same address: the slot is empty again, or it refuses the observer.
  const bool reopened = entry != nullptr;
  if (entry == nullptr) entry = free_entry();
  if (entry == nullptr) return false;
  entry->low = range.low;
  entry->high = range.high;
  for (std::size_t i = 0; i < kMaxApis; ++i) {
    See see = see_nothing;  // a copy that is opened again may be in use already
    if (i < slot.api_count) find_see(slot.apis[i], see, entry->api[i]);
    entry->see[i] = see;
  }
  // The end of a call is of interest to origins, and to sources that follow calls.
  std::uint32_t after = settings().origins || any_wants_calls() ? std::uint32_t{FLASH_REF_OBSERVE_AFTER} : 0U;
  if (!reopened)
    entry->observer = {sizeof entry->observer, FLASH_REF_OBSERVE_BEFORE | FLASH_REF_OBSERVE_FOREVER | after,
                       notify_of_many, entry, nullptr};
  entry->slot.store(&slot);
  choose_notify(*entry, slot);
  int status = slot.add(&entry->observer);
  if (status == FLASH_REF_OBSERVER_OK && settings().verbosity >= 2) {
    TextBuffer<256> message;
    message << "watching a copy of flash_ref by its observer slot, " << std::uint64_t{slot.api_count}
            << " functions";
    say(message.view());
  }
  return status == FLASH_REF_OBSERVER_OK || reopened;
}

class Changing {
 public:
  // Gives up after a while: a thread may have been lost in a fork.
  Changing() {
    for (int round = 0; round < 100000 && changing.exchange(true, std::memory_order_acquire); ++round)
      sched_yield();
  }
  ~Changing() { changing.store(false, std::memory_order_release); }
};

const flash_ref_observer_slot* slot_in(const LoadedObject& object) {
  std::string_view note = object.note("flash_ref", FLASH_REF_OBSERVER_NOTE);
  std::int64_t distance = 0;
  if (note.size() != sizeof distance) return nullptr;
  std::memcpy(&distance, note.data(), sizeof distance);
  auto address = reinterpret_cast<std::uintptr_t>(note.data()) + static_cast<std::uintptr_t>(distance);
  return object.contains(address) ? reinterpret_cast<const flash_ref_observer_slot*>(address) : nullptr;
}

void record_now() {
  Process* mapped = process_mapping.load(std::memory_order_acquire);
  if (mapped == nullptr || mapped->journal.load() != static_cast<std::uint32_t>(JournalState::kOpen)) return;
  ScratchLease lease(*mapped);
  if (lease.get() != nullptr) record_copies(*mapped, *lease.get());
}

// Collected first: adding an observer calls into the copy, and nothing of that kind belongs under the
// loader's lock.
struct Found {
  const flash_ref_observer_slot* slots[kMaxCopies];
  Range ranges[kMaxCopies];
  std::size_t count = 0;

  bool add(const LoadedObject& object) {
    const flash_ref_observer_slot* slot = slot_in(object);
    if (slot == nullptr || count == kMaxCopies) return false;
    slots[count] = slot;
    object.range(ranges[count].low, ranges[count].high);
    ++count;
    return true;
  }
};

void observe_all(const Found& found) {
  Changing lock;
  for (std::size_t i = 0; i < found.count; ++i) (void)observe(*found.slots[i], found.ranges[i]);
}

bool exports_kernel(const LoadedObject& object) {
  for (std::size_t i = 0; i < kApiCount; ++i)
    if (object.find_function(kContracts[i].name) != nullptr) return true;
  return false;
}

// Looked at anew whenever something changes there, said once.
void say_unwatched(std::string_view path) {
  static std::atomic<bool> said{false};
  Process* mapped = process();
  if (mapped == nullptr || said.exchange(true, std::memory_order_relaxed)) return;
  TextBuffer<1024> note;
  note << "'" << path
       << "' holds flash_ref without an observer slot and was opened by dlmopen: calls that objects of its "
          "namespace make are not seen, only those through an address from dlsym";
  record_process(*mapped, note.c_str(), true);
}

}  // namespace

void observe_loaded_copies() {
  Found found;
  each_loaded_object([&](const LoadedObject& object) {
    (void)found.add(object);
    return true;
  });
  observe_all(found);
  observe_foreign_copies();
}

void observe_foreign_copies() {
  static std::atomic<std::uint64_t> known{0};
  const std::uint64_t state = foreign_state();
  if (state == known.load(std::memory_order_relaxed) || !settings().enabled) return;
  QuietSection quiet;
  known.store(state, std::memory_order_relaxed);
  Found found;
  char path[512] = "";
  each_foreign_object([&](const LoadedObject& object) {
    if (!found.add(object) && exports_kernel(object)) std::strncpy(path, object.path, sizeof path - 1);
    return true;
  });
  observe_all(found);
  if (path[0] != '\0') say_unwatched(path);
  if (found.count != 0) record_now();
}

void tell_of_calls() {
  telling_of_calls.store(true);
  for (Copy& copy : copies)
    if (const flash_ref_observer_slot* slot = copy.slot.load()) choose_notify(copy, *slot);
}

bool is_observed(std::uintptr_t address) {
  for (const Copy& copy : copies)
    if (copy.slot.load(std::memory_order_acquire) != nullptr && address >= copy.low && address < copy.high)
      return true;
  return false;
}

std::uint32_t observed_copy_count() {
  std::uint32_t count = 0;
  for (const Copy& copy : copies) count += copy.slot.load(std::memory_order_acquire) != nullptr ? 1 : 0;
  return count;
}

bool observes_any_copy() { return copies[0].slot.load(std::memory_order_acquire) != nullptr; }

void record_copies(Process& process, Scratch& scratch) {
  for (std::size_t i = 0; i < kMaxCopies; ++i) {
    const flash_ref_observer_slot* slot = copies[i].slot.load(std::memory_order_acquire);
    auto address = reinterpret_cast<std::uint64_t>(slot);
    if (slot == nullptr || process.copy_recorded[i].exchange(address) == address) continue;
    std::uintptr_t place = address + 1;  // modules are looked up at address - 1
    record_modules(process, scratch, &place, scratch.modules, 1);
    if (scratch.modules[0] == 0) continue;
    FrameBuilder frame(scratch.frame, FrameType::kLibrary);
    frame.text("flash_ref").u32(scratch.modules[0]).u64(address).u32(1);
    if (!append_frame(process, frame, scratch)) process.copy_recorded[i].store(0);
  }
}

}  // namespace dtype_guard::san

extern "C" [[gnu::visibility("default")]] void dtype_san_announce(const flash_ref_observer_slot* slot) {
  using namespace dtype_guard::san;
  if (slot == nullptr) return;
  QuietSection quiet;
  if (decide_watching() == Watching::kOff && !settings().enabled) return;
  {
    Changing lock;
    (void)observe(*slot, object_of(reinterpret_cast<std::uintptr_t>(slot)));
  }
  record_now();
}
