// The entry of every function: straight into the kernel, or past the observers of this copy first. Without an
// observer that is one load and one branch; flash_ref/observer.h says what they see.
#pragma once

#include <atomic>

#include "flash_ref/observer.h"
#include "kernels/launch/contract_table.h"

namespace flash_ref {

// Which chains have observers: 0, and every call goes straight on. Chains are two, because only calls that
// may use an observer which can be removed have to be counted.
enum : unsigned { kForeverObservers = 1, kRemovableObservers = 2 };
extern std::atomic<unsigned> observed_by;

// One observed call: tells its observers before and after.
class Observation {
 public:
  Observation(const ApiRule& api, const DLTensor* const* tensors, const void* options, const void* caller);
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;

  int finish(int status);

 private:
  void tell(unsigned phase) const;

  flash_ref_call_event event_;
  const flash_ref_observer* forever_;
  const flash_ref_observer* removable_ = nullptr;
  int lane_ = -1;  // where the call is counted while a removable observer may see it
};

// Runs run(tensors..., options) as the body of an exported function, whose return address is the caller.
template <class Run, class Options, class... Tensors>
[[gnu::always_inline]] inline int observed(const ApiRule& api, Run run, const Options* options,
                                           Tensors*... tensors) {
  if (observed_by.load(std::memory_order_acquire) == 0) [[likely]]
    return run(tensors..., options);
  const DLTensor* const operands[] = {tensors...};
  Observation observation(api, operands, options, __builtin_return_address(0));
  return observation.finish(run(tensors..., options));
}

}  // namespace flash_ref
