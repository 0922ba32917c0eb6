/* Calls flash_ref_rotary wrongly where little can be opened or written:
 *   full [N]     no descriptor is free below a limit of N (300); says what the next open() gives afterwards
 *   freed        the same, then they are closed again and the call is made three more times
 *   low N        the limit is N; says the number of the next open(), and how many more there are
 *   chroot DIR, user UID, size BYTES   from then on in another root, as another user, with a file size limit
 *   removed DIR  every file in that folder is removed first
 *   fork         prints "parent PID child PID" once both are out of fork(); both call until their input ends
 *   closed       prints "closed" when every descriptor from 3 on is closed; makes as many calls as a line of
 *                input says, and answers "called" */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rotary_call.h"

extern int flash_ref_rotary(const DLTensor*, const DLTensor*, const DLTensor*, DLTensor*, const void*);

static void call_wrongly(void) { (void)rotate_once(flash_ref_rotary, 1); }

static void limit_to(int resource, const char* number) {
  struct rlimit limit;
  limit.rlim_cur = limit.rlim_max = (rlim_t)atol(number);
  if (setrlimit(resource, &limit) != 0) exit(77);
}

static int fill(void) {
  int last = 2;
  for (int next; (next = open("/dev/null", O_RDONLY)) >= 0;) last = next > last ? next : last;
  return last;
}

static void call_until_input_ends(void) {
  struct pollfd input = {STDIN_FILENO, POLLIN, 0};
  do call_wrongly();
  while (poll(&input, 1, 5) == 0);
}

static void answer_until_input_ends(void) {
  for (char line[32]; fgets(line, sizeof line, stdin) != NULL;) {
    for (long left = atol(line); left > 0; --left) call_wrongly();
    puts("called");
  }
}

static void remove_all(const char* folder) {
  DIR* entries = opendir(folder);
  if (entries == NULL || chdir(folder) != 0) exit(77);
  for (struct dirent* entry; (entry = readdir(entries)) != NULL;) (void)unlink(entry->d_name);
  closedir(entries);
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  const char* word = argc > 2 ? argv[2] : "300";
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (!strcmp(mode, "full") || !strcmp(mode, "freed")) {
    limit_to(RLIMIT_NOFILE, word);
    const int last = fill();
    call_wrongly();
    printf("open %d\n", open("/dev/null", O_RDONLY));
    if (!strcmp(mode, "full")) return 0;
    for (int i = 3; i <= last; ++i) close(i);
    for (int i = 0; i < 3; ++i) call_wrongly();
  } else if (!strcmp(mode, "low")) {
    limit_to(RLIMIT_NOFILE, word);
    call_wrongly();
    const int first = open("/dev/null", O_RDONLY);
    const int last = fill();
    printf("first %d last %d\n", first, last);
  } else if (!strcmp(mode, "chroot")) {
    if (chdir("/") != 0 || chroot(word) != 0) return 77;
    call_wrongly();
  } else if (!strcmp(mode, "user")) {
    if (setuid((uid_t)atoi(word)) != 0) return 77;
    call_wrongly();
    const pid_t child = fork();
    if (child == 0) {
      call_wrongly();
      _exit(0);
    }
    waitpid(child, NULL, 0);
  } else if (!strcmp(mode, "size")) {
    limit_to(RLIMIT_FSIZE, word);
    call_wrongly();
  } else if (!strcmp(mode, "removed")) {
    remove_all(word);
    call_wrongly();
  } else if (!strcmp(mode, "fork")) {
    call_wrongly();
    int ends[2];
    char byte = 0;
    if (pipe(ends) != 0) return 77;
    const pid_t child = fork();
    if (child == 0 && write(ends[1], &byte, 1) != 1) return 77;
    if (child != 0 && read(ends[0], &byte, 1) != 1) return 77;
    if (child != 0) printf("parent %d child %d\n", (int)getpid(), (int)child);
    call_until_input_ends();
    if (child != 0) waitpid(child, NULL, 0);
  } else if (!strcmp(mode, "closed")) {
    call_wrongly();
    for (int i = 3; i < 1024; ++i) close(i);
    puts("closed");
    answer_until_input_ends();
  }
  return 0;
}
