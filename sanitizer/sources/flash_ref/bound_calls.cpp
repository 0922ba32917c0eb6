#include "sanitizer/sources/flash_ref/bound_calls.h"

#include <cstring>

#include "sanitizer/platform/own_code.h"
#include "sanitizer/platform/rebind.h"
#include "sanitizer/sources/flash_ref/interceptor.h"
#include "sanitizer/sources/flash_ref/observed_copies.h"

namespace dtype_guard::san {
namespace {

struct Candidate {
  ApiId api;
  void* kernel;
  bool is_only_one;  // no other object exports that name
};
constexpr std::size_t kMostCandidates = kApiCount * kMaxThunks;

struct Candidates {
  Candidate entries[kMostCandidates];
  std::size_t count = 0;
  std::uint32_t copies = 0;
};

void add_kernels(const LoadedObject& object, std::uint32_t (&exporters)[kApiCount], Candidates& found) {
  bool is_copy = false;
  for (std::size_t i = 0; i < kApiCount; ++i) {
    void* kernel = object.find_function(kContracts[i].name);
    if (kernel == nullptr) continue;
    ++exporters[i];
    if (is_observed(reinterpret_cast<std::uintptr_t>(kernel))) continue;
    is_copy = true;
    if (found.count < kMostCandidates) found.entries[found.count++] = {static_cast<ApiId>(i), kernel, false};
  }
  found.copies += is_copy ? 1 : 0;
}

void find_candidates(Candidates& found) {
  std::uint32_t exporters[kApiCount] = {};
  each_object_inside_dlopen([&](const LoadedObject& object) {
    if (!is_own_code(object.bias)) add_kernels(object, exporters, found);
    return true;
  });
  for (std::size_t i = 0; i < found.count; ++i)
    found.entries[i].is_only_one = exporters[static_cast<std::size_t>(found.entries[i].api)] == 1;
}

// A word that is bound to the kernel; or one that its first call will bind, where only one kernel can be
// meant: such a word leads back into its own object.
bool leads_to(const Candidate& candidate, const LoadedObject& object, const Binding& binding) {
  std::uintptr_t value = *binding.place;
  if (value == reinterpret_cast<std::uintptr_t>(candidate.kernel)) return true;
  bool is_unbound =
      object.contains(value) && !object.contains(reinterpret_cast<std::uintptr_t>(candidate.kernel));
  return is_unbound && binding.is_call && candidate.is_only_one &&
         std::strcmp(binding.symbol, kContracts[static_cast<std::size_t>(candidate.api)].name) == 0;
}

std::uint32_t lead_to_thunks(const LoadedObject& object, const Candidates& candidates) {
  std::uint32_t led = 0;
  object.each_binding([&](const Binding& binding) {
    if (!binding.is_call && !binding.is_table) return;
    for (std::size_t i = 0; i < candidates.count; ++i) {
      const Candidate& candidate = candidates.entries[i];
      if (!leads_to(candidate, object, binding)) continue;
      void* thunk = thunk_for(candidate.api, candidate.kernel);
      if (thunk == candidate.kernel) return;  // none is left
      led += rebind(object, binding.place, reinterpret_cast<std::uintptr_t>(thunk)) ? 1 : 0;
      return;
    }
  });
  return led;
}

}  // namespace

BoundCalls watch_bound_calls() {
  static Candidates candidates;
  find_candidates(candidates);
  BoundCalls result{candidates.copies, 0};
  if (candidates.count == 0) return result;
  each_object_inside_dlopen([&](const LoadedObject& object) {
    if (!is_own_code(object.bias)) result.calls += lead_to_thunks(object, candidates);
    return true;
  });
  return result;
}

}  // namespace dtype_guard::san
