// While a thread of another process is borrowed, this command must not end: the thread would run on in the
// middle of what it was made to do. Signals that come meanwhile wait; SIGKILL and SIGSTOP cannot.
#pragma once

#include <signal.h>

namespace dtype_guard::san {

class SignalShield {
 public:
  SignalShield();
  ~SignalShield();  // those that came are delivered
  SignalShield(const SignalShield&) = delete;
  SignalShield& operator=(const SignalShield&) = delete;

 private:
  sigset_t before_;
};

}  // namespace dtype_guard::san
