/* Preloaded into dtype-lint: a process that opens $CRASH_ON_OPEN to read it ends as by a bad pointer, for as
 * long as a file of that name with ".armed" behind it is there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void crash_at(const char* path) {
  const char* wanted = getenv("CRASH_ON_OPEN");
  char armed[4096];
  if (wanted == NULL || path == NULL || strcmp(path, wanted) != 0) return;
  snprintf(armed, sizeof armed, "%s.armed", wanted);
  if (access(armed, F_OK) != 0) return;
  signal(SIGSEGV, SIG_DFL);
  raise(SIGSEGV);
}

#define OPEN(name)                                                                                \
  int name(const char* path, int flags, ...) {                                                    \
    va_list more;                                                                                 \
    va_start(more, flags);                                                                        \
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;          \
    va_end(more);                                                                                 \
    crash_at(path);                                                                               \
    int (*next)(const char*, int, ...) = (int (*)(const char*, int, ...))dlsym(RTLD_NEXT, #name); \
    return next(path, flags, mode);                                                               \
  }
OPEN(open)
OPEN(open64)
