// What can be known of a process from /proc without touching it, and whether a library can be put into it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace dtype_guard::san {

// Exit status 1, with what is in the way and what to do about it.
struct AttachError {
  std::string message;
};

struct ProcessFacts {
  pid_t pid = 0;
  std::string command;     // of /proc/PID/cmdline, spaces between arguments
  std::string executable;  // as the process sees it
  pid_t live_thread = 0;   // the main thread; another where that one has ended and the others run on. /proc
                           // and the process's memory are reached through it.
  char state = '?';        // of that thread: R, S, D, T, t, Z
  uid_t user = 0;
  pid_t tracer = 0;
  std::vector<std::string> objects;  // files mapped executable, each once
  std::vector<std::string> ranges;   // of each, the addresses of its code, as /proc/PID/maps has them
};

// Throws AttachError when there is no such process, or it cannot be looked at.
ProcessFacts read_process(pid_t pid);

// The path of a mapped file as this process can open it, also from another mount namespace.
std::string reachable(const ProcessFacts& process, const std::string& file);
std::string reachable(pid_t thread, const std::string& file);

// An object whose file was removed or replaced while it was mapped.
bool is_gone(const std::string& object);

// Where the file that is mapped can be read, also when it is gone; that only root may.
std::string mapped_file(const ProcessFacts& process, std::size_t object);

bool has_object(const ProcessFacts& process, const std::string& name_prefix);

// Why `library` cannot be put into the process; empty when nothing stands in the way that can be seen from
// here.
std::string obstacle(const ProcessFacts& process, const std::string& library);

// That a program is set-uid or the like; empty when it is not.
std::string raised_privileges(const ProcessFacts& process);

// Why its open files and its root cannot be looked at; empty when they can.
std::string out_of_reach(const ProcessFacts& process);

// Why ptrace was refused, as far as the system says: Yama's ptrace_scope, another user, a container's limits.
std::string permission_problem(const ProcessFacts& process);

// A thread that has not ended, the main one if it can be; of a process that has ended the main one.
pid_t live_thread_of(pid_t pid);

// Every thread has ended, whether or not the parent knows.
bool has_ended(pid_t pid);

// It has ended, or is about to: it was sent a SIGKILL, or has given its memory back.
bool is_ending(pid_t pid);

// /proc/PID/task/TID/status: a field's first word, "" when the thread is gone.
std::string thread_status(pid_t pid, pid_t thread, const std::string& field);
std::vector<pid_t> threads_of(pid_t pid);

bool ignores_signal(const ProcessFacts& process, int signal);

// The library is mapped, but offers no switch: the message for that.
std::string without_switch(const ProcessFacts& process);

}  // namespace dtype_guard::san
