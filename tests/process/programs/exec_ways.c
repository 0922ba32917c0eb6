/* exec_ways FUNCTION PROGRAM WORD...: three wrong calls, then PROGRAM with all words by that function; those
 * that take an environment pass LEFT=over alone. What fails is printed, and a fourth wrong call made.
 * FUNCTION may be bad_pointer (execv of no address), empty_path (execveat of a descriptor), quick_exit (no
 * exec at all), vfork (execv in a vfork child, which is waited for), bare_fork or bare_vfork; bare_spawn and
 * bare_spawnp (two children by posix_spawn), spawn (two that get this program's environment), off_spawn
 * (two that are told not to watch).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <flash_ref/flash_ref.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rotary_call.h"

static int rotary(const DLTensor* x, const DLTensor* cos, const DLTensor* sin, DLTensor* out,
                  const void* options) {
  return flash_ref_rotary(x, cos, sin, out, options);
}

static void by_vfork(char** words) {
  int status = 0;
  pid_t child = vfork();
  if (child == 0) {
    execv(words[0], words);
    _exit(1);
  }
  waitpid(child, &status, 0);
  printf("child %d\n", status);
}

/* Two tries in each of two children, with an environment of one variable. */
static void by_bare_child(char** w, int is_vfork) {
  char* variables[] = {"LEFT=over", NULL};
  int status = 0;
  for (int i = 0; i < 2; ++i) {
    pid_t child = is_vfork ? vfork() : fork();
    if (child == 0) {
      execve("/nowhere", w, variables);
      execle(w[0], w[0], w[1], w[2], w[3], w[4], w[5], w[6], NULL, variables);
      _exit(1);
    }
    waitpid(child, &status, 0);
  }
  errno = 0;
}

typedef int (*spawner)(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                       char* const*, char* const*);

/* A try that fails, then two children. */
static void by_spawn(spawner start, char** w, char** variables) {
  pid_t child = 0;
  int status = 0;
  if (start(&child, "/nowhere", NULL, NULL, w, variables) == 0) abort();
  for (int i = 0; i < 2; ++i) {
    if (start(&child, w[0], NULL, NULL, w, variables) != 0) abort();
    waitpid(child, &status, 0);
  }
  errno = 0;
}

int main(int argc, char** argv) {
  char* variables[] = {"LEFT=over", NULL};
  char* off[] = {"LEFT=over", "DTYPE_SAN_OPTIONS=journal=/nowhere:enabled=0", NULL};
  const char* how = argv[1];
  const char* volatile nowhere = (const char*)8;
  char** words = argv + 2;
  char** w = words;
  if (argc != 9) return 2; /* the variadic ones take seven words */
  for (int i = 0; i < 3; ++i) rotate_once(rotary, 1);
  fflush(stdout);
  errno = 0;
  if (strcmp(how, "execl") == 0) execl(w[0], w[0], w[1], w[2], w[3], w[4], w[5], w[6], NULL);
  if (strcmp(how, "execlp") == 0) execlp(w[0], w[0], w[1], w[2], w[3], w[4], w[5], w[6], NULL);
  if (strcmp(how, "execle") == 0) execle(w[0], w[0], w[1], w[2], w[3], w[4], w[5], w[6], NULL, variables);
  if (strcmp(how, "execv") == 0) execv(w[0], words);
  if (strcmp(how, "execvp") == 0) execvp(w[0], words);
  if (strcmp(how, "execve") == 0) execve(w[0], words, variables);
  if (strcmp(how, "execvpe") == 0) execvpe(w[0], words, variables);
  if (strcmp(how, "fexecve") == 0) fexecve(open(w[0], O_RDONLY | O_CLOEXEC), words, variables);
  if (strcmp(how, "execveat") == 0) execveat(AT_FDCWD, w[0], words, variables, 0);
  if (strcmp(how, "empty_path") == 0)
    execveat(open(w[0], O_RDONLY | O_CLOEXEC), "", words, variables, AT_EMPTY_PATH);
  if (strcmp(how, "quick_exit") == 0) quick_exit(7);
  if (strcmp(how, "bad_pointer") == 0) execv(nowhere, words);
  if (strcmp(how, "bare_fork") == 0) by_bare_child(words, 0);
  if (strcmp(how, "bare_vfork") == 0) by_bare_child(words, 1);
  if (strcmp(how, "vfork") == 0) by_vfork(words);
  if (strcmp(how, "bare_spawn") == 0) by_spawn(posix_spawn, words, variables);
  if (strcmp(how, "bare_spawnp") == 0) by_spawn(posix_spawnp, words, variables);
  if (strcmp(how, "off_spawn") == 0) by_spawn(posix_spawn, words, off);
  if (strcmp(how, "spawn") == 0) by_spawn(posix_spawn, words, environ);
  printf("went on: %s\n", strerror(errno));
  rotate_once(rotary, 1);
  return 0;
}
