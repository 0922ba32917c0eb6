// Descriptors without taking any from the program. What is opened for a moment is opened in the program's
// table where that has room from 100 on. Where it has none (a low limit, a table that is full) the work is
// done by a thread that lives that long and has a table of its own: no number of the program's is touched,
// and nothing is shared with it afterwards.
#pragma once

#include <errno.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace dtype_guard::san {

inline constexpr int kFirstOwnDescriptor = 100;  // those below are the program's

// Its stack, in memory that a forked child finds wiped.
struct DescriptorThread {
  static constexpr std::size_t kStack = 64 * 1024;
  std::atomic<std::uint32_t> taken;
  std::atomic<int> id;  // 0 when it has ended
  alignas(16) char stack[kStack];
};

// Moves a fresh descriptor to 100 or above; closes it and gives -1 where there is no place.
int move_up(int descriptor);

// The limit allows descriptors from 100 on.
bool may_hold_descriptors();

using DescriptorWork = long (*)(void* context);

// -EMFILE when such a thread cannot be had, else what `work` gives. Its table starts empty.
long on_descriptor_thread(DescriptorThread& thread, DescriptorWork work, void* context);

// `work` opens what it needs and gives -errno when it could not. It is told whether its table is the
// program's: only there may a descriptor be kept.
template <typename Work>
long with_descriptors(DescriptorThread& thread, Work work) {
  if (may_hold_descriptors()) {
    const long result = work(true);
    if (result != -EMFILE) return result;
  }
  return on_descriptor_thread(
      thread, [](void* context) { return (*static_cast<Work*>(context))(false); }, &work);
}

}  // namespace dtype_guard::san
