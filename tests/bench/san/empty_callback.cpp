// The floors of bench_torch.py: a global callback of libtorch's record functions that does nothing, without
// or with the values that it would look at, which libtorch boxes for it. Called by ctypes with the address of
// at::addGlobalCallback.
#include "sanitizer/sources/torch/abi.h"

namespace {

using namespace dtype_guard::san::torch;

ContextPointer do_nothing(const Record&) { return {nullptr}; }
void end_nothing(const Record&, Context*) {}

}  // namespace

extern "C" [[gnu::visibility("default")]] void add_empty(AddGlobalCallback add_callback, bool inputs,
                                                         bool outputs) {
  Callback callback;
  callback.start = do_nothing;
  callback.end = end_nothing;
  callback.scopes[static_cast<std::size_t>(Scope::kFunction)] = true;
  callback.needs_inputs = inputs;
  callback.needs_outputs = outputs;
  (void)add_callback(callback);
}
