#include "tests/emulated/block.h"

#include <setjmp.h>
#include <ucontext.h>

#include <array>
#include <cstring>
#include <memory>
#include <utility>

namespace flash_ref_emulated {
namespace {

constexpr std::size_t kStack = std::size_t{256} << 10;
constexpr int kMostThreads = 1024;

std::string first_error;

enum class State : std::uint8_t { kReady, kAtWarp, kAtBarrier, kDone };

struct Copy {
  std::uint32_t to;
  const void* from;  // null: zeros
};

struct Fiber {
  State state = State::kDone;
  bool started = false;
  jmp_buf where;
  ucontext_t first;
  std::unique_ptr<char[]> stack;
  std::vector<std::vector<Copy>> groups;  // committed; the last one is being filled
};

struct Warp {
  int arrived = 0;
  const char* place = nullptr;
  std::uint32_t epoch = 0;
  std::array<void*, kLanes> brought{};
};

// Who touched a word of shared memory last, and when.
struct Word {
  std::int32_t writer = -1, reader = -1, other_reader = -1;  // other_reader: of another warp than reader
  std::uint32_t write_epoch = 0, write_warp_epoch = 0, read_epoch = 0, read_warp_epoch = 0;
};

struct Block {
  std::array<Fiber, kMostThreads> fibers;
  std::array<Warp, kMostThreads / kLanes> warps;
  std::vector<std::uint8_t> shared;
  std::vector<Word> words;
  const std::function<void()>* body = nullptr;
  int threads = 0, running = 0, at_barrier = 0, done = 0;
  unsigned index = 0;
  std::uint32_t epoch = 0;
  bool any = false, result = false, stuck = false;
  jmp_buf scheduler;
};

Block block;

Warp& warp_of(int thread) { return block.warps[static_cast<std::size_t>(thread / kLanes)]; }

void enter() {
  for (;;) {
    (*block.body)();
    Fiber& fiber = block.fibers[static_cast<std::size_t>(block.running)];
    fiber.state = State::kDone;
    ++block.done;
    if (_setjmp(fiber.where) == 0) _longjmp(block.scheduler, 1);
  }
}

void start(Fiber& fiber) {
  fiber.started = true;
  fiber.stack = std::make_unique<char[]>(kStack);
  getcontext(&fiber.first);
  fiber.first.uc_stack.ss_sp = fiber.stack.get();
  fiber.first.uc_stack.ss_size = kStack;
  fiber.first.uc_link = nullptr;
  makecontext(&fiber.first, enter, 0);
}

[[gnu::noinline]] void resume(int thread) {
  block.running = thread;
  Fiber& fiber = block.fibers[static_cast<std::size_t>(thread)];
  const bool fresh = !fiber.started;
  if (fresh) start(fiber);
  if (_setjmp(block.scheduler) != 0) return;
  if (fresh) setcontext(&fiber.first);
  _longjmp(fiber.where, 1);
}

[[gnu::noinline]] void give_way() {
  Fiber& fiber = block.fibers[static_cast<std::size_t>(block.running)];
  if (_setjmp(fiber.where) == 0) _longjmp(block.scheduler, 1);
}

std::string places() {
  std::string text;
  for (int warp = 0; warp < block.threads / kLanes; ++warp) {
    int counts[4] = {};
    for (int lane = 0; lane < kLanes; ++lane)
      ++counts[static_cast<int>(block.fibers[static_cast<std::size_t>(warp * kLanes + lane)].state)];
    const Warp& at = block.warps[static_cast<std::size_t>(warp)];
    text += " warp " + std::to_string(warp) + ": " + std::to_string(counts[1]) + " lanes at " +
            (counts[1] > 0 ? at.place : "no instruction") + ", " + std::to_string(counts[2]) +
            " at the barrier, " + std::to_string(counts[3]) + " done;";
  }
  return text;
}

void race(const char* what, std::uint32_t word, int first) {
  report(std::string(what) + " of shared byte " + std::to_string(word * 4) + " by thread " +
         std::to_string(block.running) + " of block " + std::to_string(block.index) +
         " without a barrier after thread " + std::to_string(first));
}

// Thread `other`, which was there at these epochs, is not known to have come before the running one.
bool apart(int other, std::uint32_t epoch, std::uint32_t warp_epoch) {
  if (other < 0 || other == block.running || epoch != block.epoch) return false;
  if (other / kLanes != block.running / kLanes) return true;
  return warp_epoch == warp_of(other).epoch;
}

void note_read(std::uint32_t index) {
  Word& word = block.words[index];
  if (apart(word.writer, word.write_epoch, word.write_warp_epoch)) race("read", index, word.writer);
  if (word.read_epoch != block.epoch) word.reader = word.other_reader = -1;
  if (word.reader >= 0 && word.reader / kLanes != block.running / kLanes) {
    word.other_reader = block.running;
  } else {
    word.reader = block.running;
  }
  word.read_epoch = block.epoch;
  word.read_warp_epoch = warp_of(block.running).epoch;
}

void note_write(std::uint32_t index) {
  Word& word = block.words[index];
  if (apart(word.writer, word.write_epoch, word.write_warp_epoch)) race("write", index, word.writer);
  if (apart(word.reader, word.read_epoch, word.read_warp_epoch)) race("write after read", index, word.reader);
  if (apart(word.other_reader, word.read_epoch, word.read_warp_epoch))
    race("write after read", index, word.other_reader);
  word.writer = block.running;
  word.write_epoch = block.epoch;
  word.write_warp_epoch = warp_of(block.running).epoch;
}

bool inside_shared(std::uint32_t from, std::uint32_t bytes, const char* what) {
  if (from % bytes == 0 && from + bytes <= block.shared.size()) return true;
  report(std::string(what) + " of " + std::to_string(bytes) + " bytes at " + std::to_string(from) + " of " +
         std::to_string(block.shared.size()) + " in shared memory by thread " +
         std::to_string(block.running));
  return false;
}

}  // namespace

void report(const std::string& error) {
  if (first_error.empty()) first_error = error;
}

std::string take_error() { return std::exchange(first_error, ""); }

Counters& counters() {
  static Counters all;
  return all;
}

int thread_index() { return block.running; }
unsigned block_index() { return block.index; }

void run_block(unsigned index, int threads, std::size_t shared_bytes, const std::function<void()>& body) {
  block.index = index;
  block.threads = threads;
  block.body = &body;
  block.done = block.at_barrier = 0;
  block.epoch = 0;
  block.shared.assign(shared_bytes, 0xff);  // NaN in every format
  block.words.assign((shared_bytes + 3) / 4, Word{});
  for (int i = 0; i < threads; ++i) {
    Fiber& fiber = block.fibers[static_cast<std::size_t>(i)];
    fiber.state = State::kReady;
    fiber.groups.assign(1, {});
    warp_of(i) = Warp{};
  }
  ++counters().blocks;
  while (block.done < threads) {
    bool moved = false;
    for (int i = 0; i < threads; ++i) {
      if (block.fibers[static_cast<std::size_t>(i)].state != State::kReady) continue;
      moved = true;
      resume(i);
    }
    if (moved) continue;
    report("threads of block " + std::to_string(index) + " wait for each other:" + places());
    for (int i = 0; i < threads; ++i) block.fibers[static_cast<std::size_t>(i)].started = false;
    return;
  }
}

bool block_barrier(bool mine) {
  if (block.at_barrier == 0) block.any = false;
  block.any = block.any || mine;
  if (++block.at_barrier < block.threads) {
    block.fibers[static_cast<std::size_t>(block.running)].state = State::kAtBarrier;
    give_way();
    return block.result;
  }
  block.at_barrier = 0;
  block.result = block.any;
  ++block.epoch;
  for (int i = 0; i < block.threads; ++i) {
    Fiber& fiber = block.fibers[static_cast<std::size_t>(i)];
    if (fiber.state == State::kAtBarrier) fiber.state = State::kReady;
  }
  return block.result;
}

void with_warp(const char* place, void* mine, void (*resolve)(void* const* all)) {
  Warp& warp = warp_of(block.running);
  if (warp.arrived == 0) warp.place = place;
  if (std::strcmp(warp.place, place) != 0) {
    report("lanes of a warp are at " + std::string(warp.place) + " and at " + place);
  }
  warp.brought[static_cast<std::size_t>(block.running % kLanes)] = mine;
  if (++warp.arrived < kLanes) {
    block.fibers[static_cast<std::size_t>(block.running)].state = State::kAtWarp;
    give_way();
    return;
  }
  resolve(warp.brought.data());
  warp.arrived = 0;
  const int first = block.running / kLanes * kLanes;
  for (int i = first; i < first + kLanes; ++i) {
    Fiber& fiber = block.fibers[static_cast<std::size_t>(i)];
    if (fiber.state == State::kAtWarp) fiber.state = State::kReady;
  }
}

void warp_barrier() {
  with_warp("the warp's barrier", nullptr, [](void* const*) { ++warp_of(block.running).epoch; });
}

void read_shared(std::uint32_t from, void* to, std::uint32_t bytes) {
  std::memset(to, 0xff, bytes);
  if (!inside_shared(from, bytes, "a read")) return;
  for (std::uint32_t i = from / 4; i < (from + bytes) / 4; ++i) note_read(i);
  std::memcpy(to, &block.shared[from], bytes);
}

void write_shared(std::uint32_t to, const void* from, std::uint32_t bytes) {
  if (!inside_shared(to, bytes, "a write")) return;
  for (std::uint32_t i = to / 4; i < (to + bytes) / 4; ++i) note_write(i);
  std::memcpy(&block.shared[to], from, bytes);
}

void start_copy(std::uint32_t to, const void* from, bool present) {
  const std::array<std::uint8_t, 16> under_way = [] {
    std::array<std::uint8_t, 16> bytes;
    bytes.fill(0xff);
    return bytes;
  }();
  write_shared(to, under_way.data(), 16);
  if (reinterpret_cast<std::uintptr_t>(from) % 16 != 0)
    report("a copy from an address that 16 does not divide");
  if (present && !check_memory(from, 16, "a copy")) present = false;
  block.fibers[static_cast<std::size_t>(block.running)].groups.back().push_back(
      {to, present ? from : nullptr});
}

void commit_copies() { block.fibers[static_cast<std::size_t>(block.running)].groups.emplace_back(); }

void wait_copies(int left) {
  auto& groups = block.fibers[static_cast<std::size_t>(block.running)].groups;
  const std::uint8_t zeros[16] = {};
  while (static_cast<int>(groups.size()) - 1 > left) {
    for (const Copy& copy : groups.front()) {
      write_shared(copy.to, copy.from == nullptr ? zeros : copy.from, 16);
    }
    groups.erase(groups.begin());
  }
}

}  // namespace flash_ref_emulated
