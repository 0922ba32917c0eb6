#include "sanitizer/capture/stack.h"

namespace dtype_guard::san {

std::size_t capture_stack_from(std::uintptr_t caller, std::uintptr_t* frames, std::uintptr_t* words,
                               std::size_t capacity) {
  constexpr std::size_t kMostInside = 12;
  std::size_t count = capture_stack(frames, words, capacity + kMostInside);
  std::size_t inside = 0;
  while (inside < count && inside < kMostInside && frames[inside] != caller) ++inside;
  if (inside == count || frames[inside] != caller)
    inside = 0;  // the caller jumped, so it never returns there
  count -= inside;
  if (count > capacity) count = capacity;
  for (std::size_t i = 0; i < count; ++i) {
    frames[i] = frames[i + inside];
    words[i] = words[i + inside];
  }
  return count;
}

}  // namespace dtype_guard::san
