// The observer slot: found by its note, it tells of each call before and after, in a chain that can change
// while calls run.
#include "flash_ref/observer.h"

#include <link.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "flash_ref/flash_ref.h"
#include "tests/catch.h"
#include "tests/unit/kernels/calls.h"
#include "tests/unit/kernels/every_function.h"

using namespace flash_ref_test;

namespace {

const flash_ref_observer_slot* slot_of_note(const char* at) {
  std::int64_t distance = 0;
  std::memcpy(&distance, at, sizeof distance);
  return reinterpret_cast<const flash_ref_observer_slot*>(at + distance);
}

int find_notes(dl_phdr_info* info, std::size_t, void* found) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_NOTE) continue;
    const char* at = reinterpret_cast<const char*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    const char* end = at + info->dlpi_phdr[i].p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const char* name = at + sizeof note;
      const char* content = name + ((note.n_namesz + 3U) & ~3U);
      if (note.n_type == FLASH_REF_OBSERVER_NOTE && note.n_namesz == sizeof "flash_ref" &&
          std::strcmp(name, "flash_ref") == 0)
        static_cast<std::vector<const flash_ref_observer_slot*>*>(found)->push_back(slot_of_note(content));
      at = content + ((note.n_descsz + 3U) & ~3U);
    }
  }
  return 0;
}

const flash_ref_observer_slot& slot() {
  std::vector<const flash_ref_observer_slot*> found;
  dl_iterate_phdr(find_notes, &found);
  REQUIRE(found.size() == 1);
  return *found[0];
}

struct Seen {
  std::vector<flash_ref_call_event> events;
  std::vector<std::string> order;
};

struct Listener {
  Seen* seen;
  const char* name;
  flash_ref_observer observer;

  Listener(Seen& into, const char* label,
           std::uint32_t flags = FLASH_REF_OBSERVE_BEFORE | FLASH_REF_OBSERVE_AFTER)
      : seen(&into), name(label), observer{sizeof observer, flags, notify, this, nullptr} {
    REQUIRE(slot().add(&observer) == FLASH_REF_OBSERVER_OK);
  }
  ~Listener() { (void)slot().remove(&observer); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  static void notify(void* context, const flash_ref_call_event* event) {
    auto* self = static_cast<Listener*>(context);
    self->seen->events.push_back(*event);
    self->seen->order.push_back(self->name + std::to_string(event->phase));
  }
};

}  // namespace

TEST_CASE("an observer sees a call before and after") {
  Seen seen;
  const Listener listener(seen, "a");
  AttentionArguments arguments;
  REQUIRE(arguments.call().status == FLASH_REF_OK);
  REQUIRE(seen.events.size() == 2);
  const flash_ref_call_event &before = seen.events[0], &after = seen.events[1];
  CHECK(before.struct_size == sizeof before);
  CHECK(before.phase == FLASH_REF_BEFORE);
  CHECK(std::string(before.api) == "flash_ref_attention_fwd");
  CHECK(std::string(slot().apis[before.api_index]) == before.api);
  REQUIRE(before.tensor_count == 5);
  CHECK(std::string(before.roles[0]) == "q");
  CHECK(std::string(before.roles[4]) == "lse");
  CHECK(before.options == &arguments.options);
  CHECK(before.caller != nullptr);
  CHECK(after.phase == FLASH_REF_AFTER);
  CHECK(after.status == FLASH_REF_OK);
  arguments.k.dtype = {2, 32, 1};
  REQUIRE(arguments.call().status == FLASH_REF_BAD_DTYPE);
  CHECK(seen.events.back().status == FLASH_REF_BAD_DTYPE);
}

TEST_CASE("an observer that was added to stay forever is not removed") {
  static flash_ref_observer stays{sizeof stays, FLASH_REF_OBSERVE_AFTER | FLASH_REF_OBSERVE_FOREVER,
                                  [](void*, const flash_ref_call_event*) {}, nullptr, nullptr};
  flash_ref_observer stranger = stays;
  REQUIRE(slot().add(&stays) == FLASH_REF_OBSERVER_OK);
  CHECK(slot().add(&stays) == FLASH_REF_OBSERVER_BAD);
  CHECK(slot().remove(&stays) == FLASH_REF_OBSERVER_BAD);
  CHECK(slot().remove(&stranger) == FLASH_REF_OBSERVER_ABSENT);
}

TEST_CASE("a failed call's message outlives a call that an observer makes") {
  struct Caller {
    flash_ref_observer observer;
    int calls = 0;
    static void notify(void* context, const flash_ref_call_event*) {
      auto* self = static_cast<Caller*>(context);
      if (self->calls++ == 0) RotaryArguments().call();
    }
  };
  Caller caller{{sizeof(flash_ref_observer), FLASH_REF_OBSERVE_AFTER, Caller::notify, nullptr, nullptr}};
  caller.observer.context = &caller;
  REQUIRE(slot().add(&caller.observer) == FLASH_REF_OBSERVER_OK);
  AttentionArguments arguments;
  arguments.k.dtype = {2, 32, 1};
  const auto failed = arguments.call();
  REQUIRE(slot().remove(&caller.observer) == FLASH_REF_OBSERVER_OK);
  CHECK(caller.calls == 2);
  CHECK(failed.status == FLASH_REF_BAD_DTYPE);
  CHECK(failed.message.find("k has dtype float32") != std::string::npos);
}

TEST_CASE("every function with a contract is observed") {
  Seen seen;
  const Listener listener(seen, "a", FLASH_REF_OBSERVE_AFTER);
  const std::vector<EveryFunction> functions = every_function();
  REQUIRE(functions.size() == slot().api_count);
  for (const EveryFunction& function : functions) {
    seen.events.clear();
    const int status = function.call_with_nulls();
    CAPTURE(function.name);
    REQUIRE(seen.events.size() == 1);
    CHECK(std::string(seen.events[0].api) == function.name);
    CHECK(seen.events[0].status == status);
    CHECK(status == FLASH_REF_NULL_ARGUMENT);
  }
}

TEST_CASE("observers chain, the last one first, and leave") {
  Seen seen;
  RotaryArguments arguments;
  {
    const Listener first(seen, "a"), second(seen, "b");
    arguments.call();
    CHECK(seen.order == std::vector<std::string>{"b1", "a1", "b2", "a2"});
    CHECK(slot().add(const_cast<flash_ref_observer*>(&first.observer)) == FLASH_REF_OBSERVER_BAD);
  }
  seen.order.clear();
  arguments.call();
  CHECK(seen.order.empty());
}

TEST_CASE("observers that cannot be used are refused") {
  flash_ref_observer good{sizeof good, FLASH_REF_OBSERVE_BEFORE, Listener::notify, nullptr, nullptr};
  CHECK(slot().add(nullptr) == FLASH_REF_OBSERVER_BAD);
  for (int wrong = 0; wrong < 4; ++wrong) {
    flash_ref_observer observer = good;
    if (wrong == 0) observer.struct_size = 4;
    if (wrong == 1) observer.flags = 0;
    if (wrong == 2) observer.flags = 64 | FLASH_REF_OBSERVE_AFTER;
    if (wrong == 3) observer.notify = nullptr;
    CHECK(slot().add(&observer) == FLASH_REF_OBSERVER_BAD);
  }
  CHECK(slot().remove(&good) == FLASH_REF_OBSERVER_ABSENT);
  CHECK(slot().remove(nullptr) == FLASH_REF_OBSERVER_ABSENT);
}

TEST_CASE("an observer cannot leave from inside a call") {
  static int answer;
  static flash_ref_observer self;
  self = {sizeof self, FLASH_REF_OBSERVE_BEFORE,
          [](void*, const flash_ref_call_event*) { answer = slot().remove(&self); }, nullptr, nullptr};
  REQUIRE(slot().add(&self) == FLASH_REF_OBSERVER_OK);
  RotaryArguments().call();
  CHECK(answer == FLASH_REF_OBSERVER_INSIDE);
  CHECK(slot().remove(&self) == FLASH_REF_OBSERVER_OK);
}

TEST_CASE("an observer may be added inside a call whose end a removal waits for") {
  static std::atomic<int> stage;
  stage = 0;
  static flash_ref_observer second;
  second = {sizeof second, FLASH_REF_OBSERVE_AFTER, [](void*, const flash_ref_call_event*) {}, nullptr,
            nullptr};
  flash_ref_observer first{sizeof first, FLASH_REF_OBSERVE_BEFORE,
                           [](void*, const flash_ref_call_event*) {
                             stage = 1;
                             while (stage != 2) std::this_thread::yield();
                             std::this_thread::sleep_for(std::chrono::milliseconds(20));
                             if (slot().add(&second) == FLASH_REF_OBSERVER_OK) stage = 3;
                           },
                           nullptr, nullptr};
  REQUIRE(slot().add(&first) == FLASH_REF_OBSERVER_OK);
  std::thread caller([] { RotaryArguments().call(); });
  while (stage != 1) std::this_thread::yield();
  stage = 2;
  CHECK(slot().remove(&first) == FLASH_REF_OBSERVER_OK);  // while the callback runs
  CHECK(stage == 3);
  caller.join();
  CHECK(slot().remove(&second) == FLASH_REF_OBSERVER_OK);
}

TEST_CASE("a child that is forked inside a callback can remove observers once its call has ended") {
  static pid_t child;
  child = -1;
  flash_ref_observer forking{sizeof forking, FLASH_REF_OBSERVE_BEFORE,
                             [](void*, const flash_ref_call_event*) { child = fork(); }, nullptr, nullptr};
  REQUIRE(slot().add(&forking) == FLASH_REF_OBSERVER_OK);
  RotaryArguments().call();
  if (child == 0) {
    alarm(300);  // ends a child that waits for ever
    _exit(slot().remove(&forking) == FLASH_REF_OBSERVER_OK ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(slot().remove(&forking) == FLASH_REF_OBSERVER_OK);
}

TEST_CASE("an observer that is added inside a call sees neither half of it") {
  static int events;
  events = 0;
  static flash_ref_observer late{
      sizeof late, FLASH_REF_OBSERVE_BEFORE | FLASH_REF_OBSERVE_AFTER | FLASH_REF_OBSERVE_FOREVER,
      [](void*, const flash_ref_call_event*) { ++events; }, nullptr, nullptr};
  static flash_ref_observer adding{sizeof adding, FLASH_REF_OBSERVE_BEFORE | FLASH_REF_OBSERVE_FOREVER,
                                   [](void*, const flash_ref_call_event*) { (void)slot().add(&late); },
                                   nullptr, nullptr};
  REQUIRE(slot().add(&adding) == FLASH_REF_OBSERVER_OK);
  RotaryArguments arguments;
  arguments.call();
  CHECK(events == 0);
  arguments.call();
  CHECK(events == 2);
}

TEST_CASE("removing waits for the calls in flight") {
  struct Shared {
    std::atomic<bool> stop{false};
    std::atomic<long> late{0};
  } shared;
  struct Watched {
    Shared* shared;
    std::atomic<bool> gone{false};
    flash_ref_observer observer;
  };
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&] {
      RotaryArguments arguments;
      while (!shared.stop) arguments.call();
    });
  for (int round = 0; round < 300; ++round) {
    Watched watched{&shared, {false}, {}};
    watched.observer = {sizeof watched.observer, FLASH_REF_OBSERVE_BEFORE | FLASH_REF_OBSERVE_AFTER,
                        [](void* context, const flash_ref_call_event*) {
                          auto* self = static_cast<Watched*>(context);
                          for (int spin = 0; spin < 50; ++spin)
                            if (self->gone) ++self->shared->late;
                        },
                        &watched, nullptr};
    REQUIRE(slot().add(&watched.observer) == FLASH_REF_OBSERVER_OK);
    std::this_thread::yield();
    REQUIRE(slot().remove(&watched.observer) == FLASH_REF_OBSERVER_OK);
    watched.gone = true;
  }
  shared.stop = true;
  for (std::thread& caller : callers) caller.join();
  CHECK(shared.late == 0);
}
