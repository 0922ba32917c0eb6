// State of this process that a forked child, whichever way it was made, finds empty: memory of its own, made
// at the first use and filled with zeros, which the kernel wipes in the child (MADV_WIPEONFORK). T is of a
// fixed size, and all zeros is its empty state.
#pragma once

#include <atomic>
#include <cstddef>

namespace dtype_guard::san {

// nullptr without memory. Where the kernel (before 4.14) refuses to wipe, a child goes on with its parent's
// state, which is less exact but harmless.
void* map_wiped_in_child(std::size_t size);
// Keeps `fresh` in `mapping` unless another thread was first; gives what is kept.
void* keep_first(std::atomic<void*>& mapping, void* fresh, std::size_t size);

template <typename T>
class WipedInChild {
 public:
  // nullptr only when there is no memory for it.
  T* get() {
    void* mapped = mapping_.load(std::memory_order_acquire);
    if (mapped == nullptr) mapped = keep_first(mapping_, map_wiped_in_child(sizeof(T)), sizeof(T));
    return static_cast<T*>(mapped);
  }
  // nullptr before the first use.
  T* known() const { return static_cast<T*>(mapping_.load(std::memory_order_acquire)); }

 private:
  std::atomic<void*> mapping_{nullptr};
};

}  // namespace dtype_guard::san
