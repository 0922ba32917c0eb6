// Threads that look at roots beside the caller's.
#pragma once

#include <functional>
#include <memory>

namespace dtype_guard::flow {

class KeptGroups;
class Program;

// What is known of a program is found when it is first asked for, and what a value counts its owners with is
// no atomic: each thread has its own of all that. They share the module, which must not change meanwhile.
class Workers {
 public:
  // `count` with the caller's thread. What groups of roots gave in an earlier run holds where it may.
  Workers(const Program& program, unsigned count, KeptGroups* kept = nullptr);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // In each thread with its program; back when all are done. Throws what one of them threw.
  using Task = std::function<void(const Program& program, bool is_callers)>;
  void run(const Task& task);
  KeptGroups* kept_groups() const { return kept_; }

 private:
  struct Threads;
  const Program& program_;
  KeptGroups* const kept_;
  std::unique_ptr<Threads> threads_;  // null: the caller's is all
};

}  // namespace dtype_guard::flow
