// flash_ref in the table of sources.
#include "sanitizer/runtime/source.h"

#include <dlfcn.h>

#include "sanitizer/platform/loaded_object.h"
#include "sanitizer/platform/own_code.h"
#include "sanitizer/runtime/watching.h"
#include "sanitizer/sources/flash_ref/absent_kernels.h"
#include "sanitizer/sources/flash_ref/bound_calls.h"
#include "sanitizer/sources/flash_ref/interceptor.h"
#include "sanitizer/sources/flash_ref/kernel_lookup.h"
#include "sanitizer/sources/flash_ref/observed_copies.h"

namespace dtype_guard::san {
namespace {

bool has_watched_kernel() {
  bool found = false;
  each_loaded_object([&](const LoadedObject& object) {
    if (object.is_sanitizer()) return true;
    for (const ApiContract& contract : kContracts)
      found = found || object.find_function(contract.name) != nullptr;
    return !found;
  });
  return found;
}

void arrive(Arrival& arrival) {
  observe_loaded_copies();
  arrival.observed_copies += observed_copy_count();
  arrival.has_watched = arrival.has_watched || observes_any_copy() || has_watched_kernel();
  if (!arrival.joined) return forget_absent_kernels();
  const BoundCalls bound = watch_bound_calls();
  arrival.unobserved_copies += bound.copies;
  arrival.bound_calls += bound.calls;
  if (bound.copies != 0)
    arrival.remark =
        "joined while it ran: calls of a copy without an observer slot are seen where an object was bound to "
        "it; not those through an address that was taken before (dlsym, ctypes), those inside the copy, nor "
        "of "
        "objects that were loaded later";
}

const ApiId* watched_name(const char* name) {
  static constexpr ApiId kIds[] = {
#define DTYPE_SAN_API(name, parameters, arguments, operands) ApiId::name,
#include "sanitizer/sources/flash_ref/apis.inc"
#undef DTYPE_SAN_API
  };
  for (const ApiId& id : kIds)
    if (same_text(kContracts[static_cast<std::size_t>(id)].name, name)) return &id;
  return nullptr;
}

// What the search finds when this library is not there.
void* without_us(const Lookup& lookup) {
  if (void* found = find_kernel(lookup.name, lookup.caller).address) return found;
  return lookup.real(RTLD_NEXT, lookup.name);  // fails, and leaves the message for dlerror
}

// A kernel by name: the answer that the program would get without us, or, for a copy without an observer
// slot, a function of ours that leads to exactly that kernel.
LookupAnswer look_up(const Lookup& lookup) {
  observe_foreign_copies();
  const ApiId* id = lookup.name != nullptr ? watched_name(lookup.name) : nullptr;
  if (id == nullptr || !is_watching()) return {};
  void* found = lookup.handle == RTLD_NEXT ? next_after(lookup.name, lookup.caller)
                                           : lookup.real(lookup.handle, lookup.name);
  if (is_own_code(reinterpret_cast<std::uintptr_t>(found))) found = without_us(lookup);
  return {true, found != nullptr ? thunk_for(*id, found) : nullptr};
}

}  // namespace

extern const Source flash_ref_source;
constinit const Source flash_ref_source = {
    .name = "flash_ref",
    .loaded = note_start_objects,
    .arrived = arrive,
    .looked_up = look_up,
    .following = tell_of_calls,
    .describe = record_copies,
};

}  // namespace dtype_guard::san
