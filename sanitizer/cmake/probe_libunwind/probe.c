#define UNW_LOCAL_ONLY
#include <libunwind.h>

int probe(void) {
  unw_context_t context;
  unw_cursor_t cursor;
  return unw_getcontext(&context) + unw_init_local(&cursor, &context) + unw_step(&cursor);
}
