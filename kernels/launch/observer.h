// The entry of every function: straight into the kernel, or past the observers of this copy first. Without an
// observer that is one load and one branch; flash_ref/observer.h says what they see.
#pragma once

#include <atomic>

#include "flash_ref/observer.h"
#include "kernels/call/call.h"
#include "kernels/launch/contract_table.h"

namespace flash_ref {

// Which chains have observers: 0, and every call goes straight on. Chains are two, because only calls that
// may use an observer which can be removed have to be counted.
enum : unsigned { kForeverObservers = 1, kRemovableObservers = 2 };
extern std::atomic<unsigned> observed_by;

// Those that stay for good, the last one added first. The links never change.
extern const flash_ref_observer* forever_observers;

// The removable observers of a call: counted as in flight as long as this lives.
class RemovableObservers {
 public:
  RemovableObservers();
  ~RemovableObservers();
  RemovableObservers(const RemovableObservers&) = delete;
  RemovableObservers& operator=(const RemovableObservers&) = delete;
  void tell(unsigned phase, const flash_ref_call_event& event) const;

 private:
  unsigned set_;
  const flash_ref_observer* first_;
};

inline const flash_ref_observer* first_forever() {
  return __atomic_load_n(&forever_observers, __ATOMIC_ACQUIRE);
}

// The same `first` before and after: one that is added meanwhile gets neither.
inline void tell_forever(const flash_ref_observer* first, unsigned phase, const flash_ref_call_event& event) {
  for (const flash_ref_observer* observer = first; observer != nullptr; observer = observer->next)
    if ((observer->flags & phase) != 0) observer->notify(observer->context, &event);
}

// Observers may call kernels themselves; what a call that failed has to say is still there after them.
template <class Tell>
void tell_after(flash_ref_call_event& event, Tell tell) {
  event.phase = FLASH_REF_AFTER;
  if (event.status == FLASH_REF_OK) [[likely]] {
    tell();
    return;
  }
  const KeptMessage kept;
  tell();
}

template <class Body>
int tell_all(flash_ref_call_event& event, Body body) {
  const RemovableObservers removable;
  const flash_ref_observer* const forever = first_forever();
  removable.tell(FLASH_REF_OBSERVE_BEFORE, event);
  tell_forever(forever, FLASH_REF_OBSERVE_BEFORE, event);
  event.status = body();
  tell_after(event, [&] {
    removable.tell(FLASH_REF_OBSERVE_AFTER, event);
    tell_forever(forever, FLASH_REF_OBSERVE_AFTER, event);
  });
  return event.status;
}

// Runs run(tensors..., options) as the body of an exported function, whose return address is the caller.
template <class Run, class Options, class... Tensors>
[[gnu::always_inline]] inline int observed(const ApiRule& api, Run run, const Options* options,
                                           Tensors*... tensors) {
  const unsigned kinds = observed_by.load(std::memory_order_acquire);
  if (kinds == 0) [[likely]]
    return run(tensors..., options);
  const DLTensor* const operands[] = {tensors...};
  flash_ref_call_event event{sizeof event,
                             FLASH_REF_BEFORE,
                             static_cast<std::uint32_t>(api.index),
                             static_cast<std::uint32_t>(api.operand_count),
                             api.name,
                             api.roles,
                             operands,
                             options,
                             __builtin_return_address(0),
                             0,
                             0};
  if ((kinds & kRemovableObservers) != 0) return tell_all(event, [&] { return run(tensors..., options); });
  const flash_ref_observer* const forever = first_forever();
  tell_forever(forever, FLASH_REF_OBSERVE_BEFORE, event);
  event.status = run(tensors..., options);
  tell_after(event, [&] { tell_forever(forever, FLASH_REF_OBSERVE_AFTER, event); });
  return event.status;
}

}  // namespace flash_ref
