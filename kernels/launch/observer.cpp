#include "kernels/launch/observer.h"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <iterator>

#include "kernels/call/call.h"
#include "kernels/launch/flash_ref_contract.h"

extern "C" {
// Of a tool in this process; none most of the time.
[[gnu::weak, gnu::visibility("default")]] void dtype_san_announce(const flash_ref_observer_slot* slot);
}

namespace flash_ref {

constinit std::atomic<unsigned> observed_by{0};
constinit const flash_ref_observer* forever_observers = nullptr;

namespace {

flash_ref_observer* removable_chain = nullptr;  // the last one added

std::atomic<bool> changing{false};  // held while the chain is changed

std::atomic<bool> waiting{false};  // held by the one remove() that waits; callbacks may add meanwhile

class Lock {
 public:
  explicit Lock(std::atomic<bool>& held) : held_(held) {
    while (held_.exchange(true, std::memory_order_acquire)) sched_yield();
  }
  ~Lock() { held_.store(false, std::memory_order_release); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  std::atomic<bool>& held_;
};

// Calls in flight that may use an observer which can be removed: two sets of counters, so that remove() waits
// for the calls of before and not for those that keep coming. Spread, so that threads rarely share one.
constexpr unsigned kLanes = 16;
struct alignas(64) Lane {
  std::atomic<std::uint64_t> calls{0};
};
Lane lanes[2][kLanes];
std::atomic<unsigned> current_set{0};
thread_local std::uint32_t own_calls[2] = {};  // observed calls that this thread is in, by set

unsigned own_lane() {
  const auto thread = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
  return static_cast<unsigned>(thread * 0x9e3779b97f4a7c15U >> 60) % kLanes;
}

unsigned enter_lane() {
  const unsigned set = current_set.load() & 1U;
  lanes[set][own_lane()].calls.fetch_add(1);
  ++own_calls[set];
  return set;
}

void leave_lane(unsigned set) {
  --own_calls[set];
  lanes[set][own_lane()].calls.fetch_sub(1);
}

// Twice: a call may have read the set's number just before it changed and counts itself in the old one.
void wait_for_calls() {
  for (int round = 0; round < 2; ++round) {
    const unsigned old = current_set.fetch_add(1) & 1U;
    for (const Lane& lane : lanes[old])
      while (lane.calls.load() != 0) sched_yield();
  }
}

// The calls of other threads did not come along into the child, those that the forking thread is in did.
void forget_calls() {
  for (unsigned set = 0; set < 2; ++set) {
    for (Lane& lane : lanes[set]) lane.calls.store(0);
    lanes[set][own_lane()].calls.store(own_calls[set]);
  }
  changing.store(false);
  waiting.store(false);
}

flash_ref_observer** find(flash_ref_observer** link, const flash_ref_observer* wanted) {
  while (*link != nullptr && *link != wanted) link = &(*link)->next;
  return link;
}

const flash_ref_observer* load(flash_ref_observer* const& link) {
  return __atomic_load_n(&link, __ATOMIC_SEQ_CST);
}

bool stays_already(const flash_ref_observer* wanted) {
  const flash_ref_observer* one = forever_observers;
  while (one != nullptr && one != wanted) one = one->next;
  return one != nullptr;
}

bool is_usable(const flash_ref_observer* observer) {
  constexpr std::uint32_t kPhases = FLASH_REF_OBSERVE_BEFORE | FLASH_REF_OBSERVE_AFTER;
  return observer != nullptr && observer->struct_size >= sizeof *observer && observer->notify != nullptr &&
         (observer->flags & kPhases) != 0 && (observer->flags & ~(kPhases | FLASH_REF_OBSERVE_FOREVER)) == 0;
}

int add(flash_ref_observer* observer) {
  if (!is_usable(observer)) return FLASH_REF_OBSERVER_BAD;
  const bool forever = (observer->flags & FLASH_REF_OBSERVE_FOREVER) != 0;
  const Lock lock(changing);
  if (stays_already(observer) || *find(&removable_chain, observer) != nullptr) return FLASH_REF_OBSERVER_BAD;
  static bool fork_is_noticed = false;
  if (!forever && !fork_is_noticed) fork_is_noticed = pthread_atfork(nullptr, nullptr, forget_calls) == 0;
  if (forever) {
    observer->next = const_cast<flash_ref_observer*>(forever_observers);
    __atomic_store_n(&forever_observers, observer, __ATOMIC_SEQ_CST);
  } else {
    observer->next = removable_chain;
    __atomic_store_n(&removable_chain, observer, __ATOMIC_SEQ_CST);
  }
  observed_by.fetch_or(forever ? kForeverObservers : kRemovableObservers);
  return FLASH_REF_OBSERVER_OK;
}

int take_out(flash_ref_observer* observer) {
  const Lock lock(changing);
  flash_ref_observer** link = find(&removable_chain, observer);
  if (observer != nullptr && stays_already(observer)) return FLASH_REF_OBSERVER_BAD;
  if (observer == nullptr || *link == nullptr) return FLASH_REF_OBSERVER_ABSENT;
  __atomic_store_n(link, observer->next, __ATOMIC_SEQ_CST);
  if (removable_chain == nullptr) observed_by.fetch_and(~unsigned{kRemovableObservers});
  return FLASH_REF_OBSERVER_OK;
}

int remove(flash_ref_observer* observer) {
  if (own_calls[0] + own_calls[1] != 0) return FLASH_REF_OBSERVER_INSIDE;
  if (const int status = take_out(observer)) return status;
  const Lock lock(waiting);
  wait_for_calls();
  return FLASH_REF_OBSERVER_OK;
}

}  // namespace

RemovableObservers::RemovableObservers() : set_(enter_lane()), first_(load(removable_chain)) {}

RemovableObservers::~RemovableObservers() { leave_lane(set_); }

void RemovableObservers::tell(unsigned phase, const flash_ref_call_event& event) const {
  for (const flash_ref_observer* observer = first_; observer != nullptr; observer = load(observer->next))
    if ((observer->flags & phase) != 0) observer->notify(observer->context, &event);
}

}  // namespace flash_ref

// The note's distance to this symbol must be known when linking, hence hidden, and C for the assembler.
extern "C" [[gnu::visibility("hidden"), gnu::used]] const flash_ref_observer_slot flash_ref_slot = {
    sizeof(flash_ref_observer_slot),
    FLASH_REF_OBSERVER_VERSION,
    FLASH_REF_ABI_VERSION,
    std::size(flash_ref::kApiNames),
    flash_ref::kApiNames,
    flash_ref::add,
    flash_ref::remove};

// "R" keeps the note where unused sections are dropped.
asm(R"(
  .pushsection .note.flash_ref, "aR", %note
  .balign 4
  .long 10, 8, 1
  .asciz "flash_ref"
  .balign 4
1:
  .quad flash_ref_slot - 1b
  .popsection
)");

namespace {

[[gnu::constructor]] void announce() {
  if (dtype_san_announce != nullptr) dtype_san_announce(&flash_ref_slot);
}

}  // namespace
