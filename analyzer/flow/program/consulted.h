// What an evaluation reads of a program beside the functions that it runs and what the outline of all holds
// (outline.h): noted while one of these lives, by thread.
#pragma once

#include <cstdint>
#include <set>

namespace dtype_guard::flow {

class Consulted {
 public:
  Consulted();
  ~Consulted();
  Consulted(const Consulted&) = delete;
  Consulted& operator=(const Consulted&) = delete;

  // Told by those who read. How values flow in functions of the whole program:
  static void note_flow();
  // The body of a function, and of those that it leads to:
  static void note_body(std::uint32_t function);
  // Where a module is called, as CalledModules has it:
  static void note_calls_of(std::uint32_t forward);

  bool has_flow() const { return has_flow_; }
  const std::set<std::uint32_t>& bodies() const { return bodies_; }
  const std::set<std::uint32_t>& forwards() const { return forwards_; }

 private:
  static thread_local Consulted* now_;
  Consulted* const before_;
  bool has_flow_ = false;
  std::set<std::uint32_t> bodies_, forwards_;
};

}  // namespace dtype_guard::flow
