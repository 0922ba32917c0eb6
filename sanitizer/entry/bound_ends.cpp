#include "sanitizer/entry/bound_ends.h"

#include <cstddef>
#include <cstring>

#include "sanitizer/platform/loaded_object.h"
#include "sanitizer/platform/own_code.h"
#include "sanitizer/platform/rebind.h"

namespace dtype_guard::san {
namespace {

constexpr const char* kEnds[] = {"_exit",   "_Exit",       "execl",       "execle", "execlp",
                                 "execv",   "execve",      "execveat",    "execvp", "execvpe",
                                 "fexecve", "posix_spawn", "posix_spawnp"};
constexpr std::size_t kCount = sizeof kEnds / sizeof *kEnds;

struct Ends {
  std::uintptr_t hooks[kCount] = {};
  std::uintptr_t originals[kCount] = {};  // the first in the program's search order
};

void find_ends(Ends& ends) {
  each_object_inside_dlopen([&](const LoadedObject& object) {
    std::uintptr_t* into = is_own_code(object.bias) ? ends.hooks : ends.originals;
    for (std::size_t i = 0; i < kCount; ++i)
      if (into[i] == 0) into[i] = reinterpret_cast<std::uintptr_t>(object.find_function(kEnds[i]));
    return true;
  });
}

// As in bound_calls.cpp: bound to the function, or to be bound by the first call, and then leading back into
// its own object.
bool leads_to(const LoadedObject& object, const Binding& binding, std::uintptr_t function) {
  const std::uintptr_t value = *binding.place;
  return value == function || (binding.is_call && object.contains(value) && !object.contains(function));
}

void lead_to_hooks(const LoadedObject& object, const Ends& ends) {
  object.each_binding([&](const Binding& binding) {
    if (!binding.is_call && !binding.is_table) return;
    for (std::size_t i = 0; i < kCount; ++i) {
      if (ends.hooks[i] == 0 || ends.originals[i] == 0 || std::strcmp(binding.symbol, kEnds[i]) != 0)
        continue;
      if (leads_to(object, binding, ends.originals[i])) (void)rebind(object, binding.place, ends.hooks[i]);
      return;
    }
  });
}

}  // namespace

void watch_bound_ends() {
  static Ends ends;
  find_ends(ends);
  each_object_inside_dlopen([&](const LoadedObject& object) {
    if (!is_own_code(object.bias)) lead_to_hooks(object, ends);
    return true;
  });
}

}  // namespace dtype_guard::san
