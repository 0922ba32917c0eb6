// Which launches lie in which CUDA graph. A kernel that is launched while its stream is captured runs later,
// once for each time that the graph is launched, and no callback names it then: so its launch is noted with
// the graph at capture, and graph launches are counted.
//
// A graph's address may belong to another one later. What an executable graph holds is therefore copied when
// it is made, and a graph that gets new nodes after that starts anew.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sanitizer/sources/cupti/launches.h"

namespace dtype_guard::san::cupti {

class Graphs {
 public:
  static constexpr std::size_t kNodes = 4096;
  static constexpr std::size_t kExecutables = 512;

  void add_node() { created_.fetch_add(1, std::memory_order_relaxed); }  // of whatever kind
  void captured(const void* graph, std::uint32_t launch);
  // `executable` was made from `graph`, or from a copy of `original`.
  void instantiated(Launches& launches, const void* executable, const void* graph, const void* original);
  void replayed(const void* executable);

  // Adds what every executable has replayed to its launches; to be called once, at the end.
  void settle(Launches& launches);
  std::uint64_t nodes() const { return created_.load(std::memory_order_relaxed); }
  std::uint64_t replays() const { return replays_.load(std::memory_order_relaxed); }
  // Captured launches or executables that found no room: their replays are not counted.
  std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  struct Node {
    const void* owner;  // a graph or an executable; null: free
    std::uint32_t launch;
    std::uint32_t count;
    bool is_copied;  // an executable has been made of it
  };
  struct Executable {
    std::atomic<const void*> handle;
    std::atomic<std::uint64_t> replays;
  };
  class Turn;
  void add(const void* owner, std::uint32_t launch, std::uint32_t count);
  bool copy(const void* from, const void* to);
  void settle(Launches& launches, Executable& executable);
  Executable* find(const void* handle);

  std::atomic<std::uint32_t> taken_;
  std::atomic<std::uint64_t> created_;
  std::atomic<std::uint64_t> replays_;
  std::atomic<std::uint64_t> lost_;
  std::size_t used_;  // nodes up to here may be in use
  Node nodes_[kNodes];
  Executable executables_[kExecutables];
};

}  // namespace dtype_guard::san::cupti
