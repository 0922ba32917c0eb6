#include "analyzer/flow/workers.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "analyzer/flow/engine/subject.h"

namespace dtype_guard::flow {

// They live as long as what they know of the program is of use: until the last analysis of it is over.
struct Workers::Threads {
  Threads(const Module& of_program, unsigned count) : module(of_program) {
    for (unsigned i = 0; i < count; ++i) all.emplace_back([this] { serve(); });
  }
  ~Threads() {
    {
      const std::lock_guard lock(mutex);
      ends = true;
    }
    changed.notify_all();
    for (std::thread& each : all) each.join();
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  void begin(const Task& given) {
    {
      const std::lock_guard lock(mutex);
      task = &given;
      busy = all.size();
      ++round;
    }
    changed.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return busy == 0; });
  }
  void note_failure() {
    const std::lock_guard lock(mutex);
    if (!failure) failure = std::current_exception();
  }

  void serve() {
    std::unique_ptr<const Program> program;
    for (std::size_t done = 0;;) {
      const Task* now = nullptr;
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return ends || round > done; });
        if (ends) return;
        done = round;
        now = task;
      }
      try {
        if (!program) program = std::make_unique<const Program>(module);
        (*now)(*program, false);
      } catch (...) {
        note_failure();
      }
      const std::lock_guard lock(mutex);
      --busy;
      changed.notify_all();
    }
  }

  const Module& module;
  std::mutex mutex;
  std::condition_variable changed;
  const Task* task = nullptr;
  std::size_t round = 0, busy = 0;
  bool ends = false;
  std::exception_ptr failure;
  std::vector<std::thread> all;
};

Workers::Workers(const Program& program, unsigned count, KeptGroups* kept) : program_(program), kept_(kept) {
  if (count > 1) threads_ = std::make_unique<Threads>(program.functions.module(), count - 1);
}

Workers::~Workers() = default;

void Workers::run(const Task& task) {
  if (!threads_) return task(program_, true);
  threads_->begin(task);
  try {
    task(program_, true);
  } catch (...) {
    threads_->note_failure();
  }
  threads_->wait();
  if (threads_->failure) std::rethrow_exception(std::exchange(threads_->failure, nullptr));
}

}  // namespace dtype_guard::flow
