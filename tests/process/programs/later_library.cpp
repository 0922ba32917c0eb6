// A library that calls a kernel and is opened while the program runs.
#include "wrong_call.h"

extern "C" __attribute__((visibility("default"))) int rotate_mixed() {
  WrongCall call;
  int status = flash_ref_rotary(&call.x, &call.t, &call.t, &call.x, nullptr);  // call: later
  return status;
}
