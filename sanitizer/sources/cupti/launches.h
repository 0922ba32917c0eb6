// Which kernels a process launched, and how often: by name, and apart for each watched call (API, place,
// operands' dtypes) that a launch was made in. A launch costs the hash of its kernel's name and one count;
// the first of each is handed to the caller, who notes it with its stack. What a name means is found out by
// the report, in another process.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dtype_guard::san::cupti {

struct LaunchSlot {
  std::atomic<std::uint64_t> name;  // hash; 0: free
  std::atomic<std::uint64_t> count;
  std::atomic<std::uint64_t> captured;    // of `count`: into a graph, where nothing runs yet
  std::atomic<std::uint64_t> replayed;    // by graphs that are gone
  std::atomic<std::uint32_t> recorded;    // its first launch is in the journal, or being written
  std::atomic<std::uint32_t> parameters;  // find_parameters() of the name
};

class Launches {
 public:
  static constexpr std::size_t kSlots = 4096;

  struct Seen {
    std::uint32_t index = 0;
    std::uint64_t count = 0;  // this launch included; 0: the table is full
  };
  // Lock-free; the same name in the same call has the same index in every thread. `call` is 0 outside of
  // watched calls.
  Seen count(std::string_view kernel, std::uint64_t call = 0);

  const LaunchSlot& operator[](std::uint32_t index) const { return slots_[index]; }
  LaunchSlot& operator[](std::uint32_t index) { return slots_[index]; }
  std::uint64_t count_of(std::uint32_t index) const {
    return slots_[index].count.load(std::memory_order_relaxed);
  }
  // Launches of kernels that found no slot.
  std::uint64_t uncounted() const { return uncounted_.load(std::memory_order_relaxed); }

 private:
  LaunchSlot slots_[kSlots];
  std::atomic<std::uint64_t> uncounted_;
};

}  // namespace dtype_guard::san::cupti
