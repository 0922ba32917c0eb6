// One tool at a time joins a process: the others wait for their turn, and then find that it is joined. The
// turn is a lock on /proc/PID/mem, which only who may attach can open; it is free again when its holder ends,
// however that was.
#pragma once

#include <sys/types.h>

#include <string>

namespace dtype_guard::san {

class AttachTurn {
 public:
  // Tells `waits` for whom it waits, when it does. Throws AttachError when the other one does not come to an
  // end. Where there is no such file or lock, for another user's process say, it has the turn at once.
  using Waits = void (*)(const std::string& holder, pid_t process);
  AttachTurn(pid_t process, Waits waits);
  ~AttachTurn();
  AttachTurn(const AttachTurn&) = delete;
  AttachTurn& operator=(const AttachTurn&) = delete;

  // Who is joining the process right now: "another dtype-san (process 4711)", and whether a signal has
  // stopped it; empty when none is.
  static std::string holder(pid_t process);

 private:
  int file_;
};

}  // namespace dtype_guard::san
