// The functions and call stacks of another process, by elfutils' libdwfl: where a libc function lies there,
// and whether a stopped thread is inside something that must not be entered twice.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

struct Dwfl;
struct Dwfl_Module;

namespace dtype_guard::san {

class ProcessSymbols {
 public:
  // Throws AttachError when the mappings of the process cannot be read.
  explicit ProcessSymbols(pid_t process);
  ~ProcessSymbols();
  ProcessSymbols(const ProcessSymbols&) = delete;
  ProcessSymbols& operator=(const ProcessSymbols&) = delete;

  // Of a dynamic symbol in libc, libpthread or libdl; nothing when there is none.
  std::optional<std::uint64_t> libc_function(const std::string& name) const;

  // Reads the tables that walking this thread's stack will likely need, while it still runs: they are what
  // takes long.
  void warm_up(pid_t thread);

  // Why the stopped thread must not be made to call pthread_create: "it is inside malloc". Empty when it may.
  std::string hazard(pid_t stopped_thread) const;

 private:
  void add_modules_on_stack(std::uint64_t stack_pointer, std::set<Dwfl_Module*>& modules) const;

  pid_t process_;
  Dwfl* dwfl_;
  std::set<Dwfl_Module*> warm_;
};

// Whether a function of this name holds a lock that pthread_create or dlopen would take: the allocators, the
// dynamic loader, thread creation and end, fork, exit.
bool is_hazardous(const std::string& function);

}  // namespace dtype_guard::san
