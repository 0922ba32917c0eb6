#include "sanitizer/capture/stack.h"

// The linker's bounds of this library's image.
extern "C" {
[[gnu::visibility("hidden")]] extern const char __ehdr_start[];
[[gnu::visibility("hidden")]] extern const char etext[];
}

namespace dtype_guard::san {

bool is_own_code(std::uintptr_t address) {
  return address >= reinterpret_cast<std::uintptr_t>(__ehdr_start) &&
         address < reinterpret_cast<std::uintptr_t>(etext);
}

std::size_t capture_stack_from(std::uintptr_t caller, std::uintptr_t* frames, std::uintptr_t* words,
                               std::size_t capacity) {
  constexpr std::size_t kMostInside = 12;
  std::size_t count = capture_stack(frames, words, capacity + kMostInside);
  std::size_t inside = 0;
  while (inside < count && inside < kMostInside && frames[inside] != caller) ++inside;
  if (inside == count || frames[inside] != caller) inside = 0;  // the caller jumped, so nobody returns there
  count -= inside;
  if (count > capacity) count = capacity;
  for (std::size_t i = 0; i < count; ++i) {
    frames[i] = frames[i + inside];
    words[i] = words[i + inside];
  }
  return count;
}

}  // namespace dtype_guard::san
