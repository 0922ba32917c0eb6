#include "sanitizer/sources/cupti/graphs.h"

#include <sched.h>

namespace dtype_guard::san::cupti {

// Graphs are captured and made rarely and by few threads; a replay takes no turn.
class Graphs::Turn {
 public:
  explicit Turn(std::atomic<std::uint32_t>& taken) : taken_(taken) {
    for (int round = 0; round < 1000 && !mine_; ++round) {
      mine_ = taken.exchange(1, std::memory_order_acquire) == 0;
      if (!mine_) sched_yield();
    }
  }
  ~Turn() {
    if (mine_) taken_.store(0, std::memory_order_release);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  explicit operator bool() const { return mine_; }

 private:
  std::atomic<std::uint32_t>& taken_;
  bool mine_ = false;
};

void Graphs::add(const void* owner, std::uint32_t launch, std::uint32_t count) {
  Node* place = nullptr;
  for (std::size_t i = 0; i < used_; ++i) {
    if (nodes_[i].owner == owner && nodes_[i].launch == launch) {
      nodes_[i].count += count;
      return;
    }
    if (nodes_[i].owner == nullptr && place == nullptr) place = &nodes_[i];
  }
  if (place == nullptr && used_ < kNodes) place = &nodes_[used_++];
  if (place == nullptr) {
    lost_.fetch_add(count, std::memory_order_relaxed);
    return;
  }
  *place = {owner, launch, count, false};
}

void Graphs::captured(const void* graph, std::uint32_t launch) {
  const Turn turn(taken_);
  if (!turn || graph == nullptr) {
    lost_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  for (std::size_t i = 0; i < used_; ++i)
    if (nodes_[i].owner == graph && nodes_[i].is_copied) nodes_[i] = {};
  add(graph, launch, 1);
}

bool Graphs::copy(const void* from, const void* to) {
  bool any = false;
  const std::size_t used = used_;
  for (std::size_t i = 0; from != nullptr && i < used; ++i) {
    if (nodes_[i].owner != from) continue;
    nodes_[i].is_copied = any = true;
    add(to, nodes_[i].launch, nodes_[i].count);
  }
  return any;
}

Graphs::Executable* Graphs::find(const void* handle) {
  for (Executable& executable : executables_) {
    const void* found = executable.handle.load(std::memory_order_acquire);
    if (found == handle) return &executable;
    if (found == nullptr) return nullptr;
  }
  return nullptr;
}

void Graphs::settle(Launches& launches, Executable& executable) {
  const void* handle = executable.handle.load(std::memory_order_relaxed);
  const std::uint64_t replays = executable.replays.exchange(0, std::memory_order_relaxed);
  for (std::size_t i = 0; i < used_; ++i) {
    if (nodes_[i].owner != handle) continue;
    launches[nodes_[i].launch].replayed.fetch_add(replays * nodes_[i].count, std::memory_order_relaxed);
    nodes_[i] = {};
  }
}

void Graphs::instantiated(Launches& launches, const void* executable, const void* graph,
                          const void* original) {
  const Turn turn(taken_);
  if (!turn || executable == nullptr) return;
  Executable* known = find(executable);
  if (known != nullptr) {
    settle(launches, *known);  // the former owner of this address
  } else {
    for (Executable& free : executables_) {
      if (free.handle.load(std::memory_order_relaxed) != nullptr) continue;
      free.handle.store(executable, std::memory_order_release);
      known = &free;
      break;
    }
  }
  if (known == nullptr) {
    lost_.fetch_add(1, std::memory_order_relaxed);
  } else if (!copy(graph, executable)) {
    (void)copy(original, executable);
  }
}

void Graphs::replayed(const void* executable) {
  replays_.fetch_add(1, std::memory_order_relaxed);
  if (Executable* known = find(executable)) known->replays.fetch_add(1, std::memory_order_relaxed);
}

void Graphs::settle(Launches& launches) {
  const Turn turn(taken_);
  if (!turn) return;
  for (Executable& executable : executables_)
    if (executable.handle.load(std::memory_order_relaxed) != nullptr) settle(launches, executable);
}

}  // namespace dtype_guard::san::cupti
