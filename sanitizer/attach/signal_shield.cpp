#include "sanitizer/attach/signal_shield.h"

namespace dtype_guard::san {

SignalShield::SignalShield() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before_);
  sigaddset(&before_, SIGCHLD);  // StoppedThread goes on waiting for it
}

SignalShield::~SignalShield() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace dtype_guard::san
