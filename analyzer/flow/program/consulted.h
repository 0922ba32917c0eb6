// What an evaluation reads of a program beside the functions that it runs and what the outline of all holds
// (outline.h): noted while one of these lives, by thread.
#pragma once

#include <cstdint>
#include <set>

namespace dtype_guard::flow {

struct ReadOfProgram {
  bool flow = false;                 // how values flow in functions of the whole program
  std::set<std::uint32_t> codes;     // the bodies of these functions
  std::set<std::uint32_t> bodies;    // and of these, with those that they lead to
  std::set<std::uint32_t> forwards;  // where modules are called, as CalledModules has it
};

class Consulted {
 public:
  Consulted();
  ~Consulted();
  Consulted(const Consulted&) = delete;
  Consulted& operator=(const Consulted&) = delete;

  // Told by those who read.
  static void note_flow();
  static void note_code(std::uint32_t function);
  static void note_body(std::uint32_t function);
  static void note_calls_of(std::uint32_t forward);
  // For what was kept of it.
  static void note_again(const ReadOfProgram& then);

  const ReadOfProgram& read() const { return read_; }

 private:
  static thread_local Consulted* now_;
  Consulted* const before_;
  ReadOfProgram read_;
};

}  // namespace dtype_guard::flow
