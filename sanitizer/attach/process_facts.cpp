#include "sanitizer/attach/process_facts.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "rules/text/printable.h"
#include "sanitizer/elf/identity.h"

namespace dtype_guard::san {
namespace {

constexpr std::string_view kGone = " (deleted)";  // as the kernel says it
constexpr char kLibraryName[] = "libdtype_san.so";

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string field_of(const std::string& status, const std::string& field) {
  std::size_t at = status.find(field + ":");
  if (at == std::string::npos || (at != 0 && status[at - 1] != '\n')) return "";
  at = status.find_first_not_of(" \t", at + field.size() + 1);
  return status.substr(at, status.find_first_of(" \t\n", at) - at);
}

long number(const std::string& text) {
  long value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

void find_objects(ProcessFacts& facts) {
  std::istringstream maps(read_text(fmt::format("/proc/{}/maps", facts.live_thread)));
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string range, flags, offset, device, inode, path;
    words >> range >> flags >> offset >> device >> inode >> std::ws;
    std::getline(words, path);
    if (flags.size() < 3 || flags[2] != 'x' || path.empty() || path.front() != '/') continue;
    if (std::find(facts.objects.begin(), facts.objects.end(), path) != facts.objects.end()) continue;
    facts.objects.push_back(path);
    facts.ranges.push_back(range);
  }
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool same_file(const std::string& a, const std::string& b) {
  struct stat first = {}, second = {};
  return stat(a.c_str(), &first) == 0 && stat(b.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

std::uint64_t bits_of(const std::string& hexadecimal) {
  std::uint64_t bits = 0;
  std::from_chars(hexadecimal.data(), hexadecimal.data() + hexadecimal.size(), bits, 16);
  return bits;
}

// What links in the process's /proc lead to may be looked at: its root, its open files.
bool may_follow_links(pid_t pid) {
  std::error_code error;
  (void)std::filesystem::read_symlink(fmt::format("/proc/{}/root", pid), error);
  return error != std::errc::permission_denied;
}

bool is_kernel_thread(pid_t pid) {
  constexpr unsigned long kKernelThread = 0x00200000;  // PF_KTHREAD
  const std::string text = read_text(fmt::format("/proc/{}/stat", pid));
  const std::size_t end_of_name = text.rfind(')');
  std::istringstream fields(end_of_name == std::string::npos ? "" : text.substr(end_of_name + 1));
  std::string skipped;
  for (int i = 0; i < 6; ++i) fields >> skipped;
  unsigned long flags = 0;
  return fields >> flags && (flags & kKernelThread) != 0;
}

// Another user's process, and one with capabilities of its own, may be traced only with CAP_SYS_PTRACE.
std::string missing_capability(const ProcessFacts& process) {
  constexpr std::uint64_t kSysPtrace = std::uint64_t{1} << 19;
  const std::uint64_t own = bits_of(field_of(read_text("/proc/self/status"), "CapEff"));
  const std::uint64_t wanted =
      bits_of(field_of(read_text(fmt::format("/proc/{}/status", process.live_thread)), "CapPrm"));
  if ((own & kSysPtrace) != 0 || (process.user == geteuid() && (wanted & ~own) == 0)) return "";
  return fmt::format(
      "{}, and this command lacks CAP_SYS_PTRACE: run it as root with that capability (in a container: "
      "--cap-add=SYS_PTRACE), or start the job with DTYPE_SAN_OPTIONS=start=dormant next time",
      process.user == geteuid() ? "has capabilities that this command has not"
                                : fmt::format("belongs to user {}, you are {}", process.user, geteuid()));
}

// A container's filter lets a job load libraries and start threads, and its commands run under it too. One
// that a job put on itself, to be safe from such things, may end it for them.
std::string system_call_filter(const ProcessFacts& process) {
  const std::string status = read_text(fmt::format("/proc/{}/status", process.live_thread));
  const std::string own = read_text("/proc/self/status");
  const long mode = number(field_of(status, "Seccomp"));
  if (mode == 0) return "";
  if (mode == number(field_of(own, "Seccomp")) &&
      number(field_of(status, "Seccomp_filters")) <= number(field_of(own, "Seccomp_filters")))
    return "";
  return "runs under a seccomp filter (Seccomp in its /proc status) that this command does not run under: "
         "the "
         "filter may kill it for mmap, openat or clone, which attaching needs. Start it with 'dtype-san "
         "run', or "
         "with the library preloaded and DTYPE_SAN_OPTIONS=start=dormant; where it is a container's filter, "
         "run "
         "this command in the container";
}

// Loading a library opens it.
std::string descriptors_in_use(const ProcessFacts& process) {
  std::istringstream limits(read_text(fmt::format("/proc/{}/limits", process.live_thread)));
  constexpr std::string_view kName = "Max open files";
  long limit = 0;
  for (std::string line; std::getline(limits, line);)
    if (line.starts_with(kName)) limit = number(line.substr(line.find_first_not_of(' ', kName.size())));
  long used = 0;
  std::error_code error;
  std::filesystem::directory_iterator at(fmt::format("/proc/{}/fd", process.live_thread), error), end;
  for (; !error && at != end; at.increment(error)) used += number(at->path().filename()) < limit ? 1 : 0;
  if (error || limit == 0 || used < limit) return "";
  return fmt::format(
      "has no free descriptor ({} of {} are in use): none is left for the library to be opened. Raise its "
      "limit, for "
      "example by 'prlimit --nofile={}:{} --pid {}'",
      used, limit, limit + 16, limit + 16, process.pid);
}

// AT_SECURE of a process of our own word size, where it may be read; else whether its user or group ids
// differ.
bool has_raised_privileges(pid_t pid) {
  const std::string vector = read_text(fmt::format("/proc/{}/auxv", pid));
  for (std::size_t at = 0; at + sizeof(ElfW(auxv_t)) <= vector.size(); at += sizeof(ElfW(auxv_t))) {
    ElfW(auxv_t) entry;
    std::memcpy(&entry, vector.data() + at, sizeof entry);
    if (entry.a_type == AT_SECURE) return entry.a_un.a_val != 0;
  }
  std::istringstream status(read_text(fmt::format("/proc/{}/status", pid)));
  for (std::string line; std::getline(status, line);) {
    std::istringstream words(line);
    std::string name, real, effective;
    if (words >> name >> real >> effective; (name == "Uid:" || name == "Gid:") && real != effective)
      return true;
  }
  return false;
}

}  // namespace

ProcessFacts read_process(pid_t pid) {
  const std::string status = read_text(fmt::format("/proc/{}/status", pid));
  if (status.empty()) throw AttachError{fmt::format("there is no process {}", pid)};
  if (const long group = number(field_of(status, "Tgid")); group != pid)
    throw AttachError{fmt::format("{} is a thread of process {}: attach to that", pid, group)};
  ProcessFacts facts;
  facts.pid = pid;
  facts.live_thread = live_thread_of(pid);
  const std::string state = thread_status(pid, facts.live_thread, "State");
  facts.state = state.empty() ? '?' : state[0];
  facts.user = static_cast<uid_t>(number(field_of(status, "Uid")));
  facts.tracer = static_cast<pid_t>(number(field_of(status, "TracerPid")));
  facts.command = read_text(fmt::format("/proc/{}/cmdline", facts.live_thread));
  std::replace(facts.command.begin(), facts.command.end(), '\0', ' ');
  while (!facts.command.empty() && facts.command.back() == ' ') facts.command.pop_back();
  std::error_code ignored;
  facts.executable =
      std::filesystem::read_symlink(fmt::format("/proc/{}/exe", facts.live_thread), ignored).string();
  find_objects(facts);
  return facts;
}

std::string reachable(const ProcessFacts& process, const std::string& file) {
  return reachable(process.live_thread, file);
}

std::string reachable(pid_t thread, const std::string& file) {
  constexpr std::string_view kNewline = "\\012";  // as the kernel shows one in a name
  const std::string shown = fmt::format("/proc/{}/root{}", thread, file);
  std::string meant = shown;
  for (std::size_t at = 0; (at = meant.find(kNewline, at)) != std::string::npos; ++at)
    meant.replace(at, kNewline.size(), "\n");
  return meant != shown && access(shown.c_str(), F_OK) != 0 ? meant : shown;
}

bool is_gone(const std::string& object) { return object.ends_with(kGone); }

std::string mapped_file(const ProcessFacts& process, std::size_t object) {
  const std::string& name = process.objects[object];
  if (!is_gone(name)) return reachable(process, name);
  // "START-END", here without the zeros that fill them up.
  std::uint64_t start = 0, end = 0;
  const std::string& range = process.ranges[object];
  const char* last = range.data() + range.size();
  const auto [dash, error] = std::from_chars(range.data(), last, start, 16);
  if (error == std::errc() && dash != last) std::from_chars(dash + 1, last, end, 16);
  return fmt::format("/proc/{}/map_files/{:x}-{:x}", process.live_thread, start, end);
}

std::string out_of_reach(const ProcessFacts& process) {
  if (is_kernel_thread(process.pid)) return "is a thread of the kernel";
  return may_follow_links(process.live_thread) ? "" : permission_problem(process);
}

bool ignores_signal(const ProcessFacts& process, int signal) {
  const std::uint64_t set = bits_of(thread_status(process.pid, process.live_thread, "SigIgn"));
  return (set >> (signal - 1) & 1U) != 0;
}

std::string without_switch(const ProcessFacts& process) {
  if (!has_object(process, kLibraryName)) return "";
  return "has the library in it, which has met no watched library yet (or was told enabled=0): what is "
         "loaded "
         "from now on is watched, and 'dtype-san on' and 'off' work from then on";
}

bool has_object(const ProcessFacts& process, const std::string& name_prefix) {
  return std::any_of(process.objects.begin(), process.objects.end(),
                     [&](const std::string& path) { return base_name(path).starts_with(name_prefix); });
}

std::string obstacle(const ProcessFacts& process, const std::string& library) {
  if (process.state == 'Z') return "has ended and waits for its parent";
  if (process.state == 'T') return fmt::format("is stopped; 'kill -CONT {}' lets it run", process.pid);
  if (process.tracer != 0)
    return fmt::format("is traced by process {} already (a debugger or strace); only one can be",
                       process.tracer);
  if (process.objects.empty()) {
    if (is_kernel_thread(process.pid)) return "is a thread of the kernel";
    const std::string raised = raised_privileges(process);
    return raised.empty() ? permission_problem(process) : raised;
  }
  std::string problem;
  const std::string executable = fmt::format("/proc/{}/exe", process.live_thread);
  const auto program = read_elf(executable, problem);
  const auto own = read_elf(library, problem);
  if (program && own && !program->same_architecture(*own))
    return fmt::format("is a {} program, the library is {}: use the dtype-san of that architecture",
                       program->describe(), own->describe());
  if (std::string raised = raised_privileges(process); !raised.empty()) return raised;
  if (has_object(process, "ld-musl")) return "runs on musl; the library needs glibc";
  if (!has_object(process, "libc.so.6") && !has_object(process, "libc-2."))
    return "has no glibc (a static program?): there is no dynamic loader in it that could load a library";
  if (std::string there = without_switch(process); !there.empty()) return there;
  if (std::string filter = system_call_filter(process); !filter.empty()) return filter;
  if (std::string problem_here = out_of_reach(process); !problem_here.empty()) return problem_here;
  if (std::string full = descriptors_in_use(process); !full.empty()) return full;
  if (!same_file(library, reachable(process, library)))
    return fmt::format(
        "does not see '{}' (another root or mount namespace): put a copy there and pass --library", library);
  return "";
}

std::string raised_privileges(const ProcessFacts& process) {
  if (!has_raised_privileges(process.live_thread)) return "";
  return fmt::format(
      "runs with raised privileges ('{}' is set-uid, set-gid or has file capabilities): the library "
      "does nothing in such a program",
      process.executable.empty() ? printable_command(process.command) : printable(process.executable));
}

std::string permission_problem(const ProcessFacts& process) {
  if (geteuid() != 0 && process.user != geteuid())
    return fmt::format("belongs to user {}, you are {}: run as that user or as root", process.user,
                       geteuid());
  const std::string scope = read_text("/proc/sys/kernel/yama/ptrace_scope");
  if (geteuid() != 0 && !scope.empty() && scope[0] == '1')
    return "is no child of this command, and /proc/sys/kernel/yama/ptrace_scope is 1: run as root, set it to "
           "0, or "
           "start the job with DTYPE_SAN_OPTIONS=start=dormant next time ('dtype-san on PID' needs no such "
           "right)";
  if (!scope.empty() && scope[0] >= '2')
    return fmt::format("cannot be traced: /proc/sys/kernel/yama/ptrace_scope is {} (only {})", scope[0],
                       scope[0] == '2' ? "with CAP_SYS_PTRACE" : "a reboot changes that");
  if (std::string capability = missing_capability(process); !capability.empty()) return capability;
  return "may not be traced by this user (a container without CAP_SYS_PTRACE, a set-uid program, or one that "
         "asked not to be dumped)";
}

pid_t live_thread_of(pid_t pid) {
  const auto lives = [pid](pid_t thread) {
    const std::string state = thread_status(pid, thread, "State");
    return !state.empty() && state != "Z" && state != "X";
  };
  if (lives(pid)) return pid;
  const std::vector<pid_t> threads = threads_of(pid);
  const auto live = std::find_if(threads.begin(), threads.end(), lives);
  return live == threads.end() ? pid : *live;
}

bool has_ended(pid_t pid) {
  const std::string state = thread_status(pid, live_thread_of(pid), "State");
  return state.empty() || state == "Z" || state == "X";
}

bool is_ending(pid_t pid) {
  const pid_t thread = live_thread_of(pid);
  const std::uint64_t pending = bits_of(thread_status(pid, thread, "SigPnd"));
  if (has_ended(pid) || (pending >> (SIGKILL - 1) & 1U) != 0) return true;
  std::error_code error;
  (void)std::filesystem::read_symlink(fmt::format("/proc/{}/exe", thread), error);
  return error == std::errc::no_such_file_or_directory && !is_kernel_thread(pid);
}

std::string thread_status(pid_t pid, pid_t thread, const std::string& field) {
  return field_of(read_text(fmt::format("/proc/{}/task/{}/status", pid, thread)), field);
}

std::vector<pid_t> threads_of(pid_t pid) {
  std::vector<pid_t> threads;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid), ignored))
    threads.push_back(static_cast<pid_t>(number(entry.path().filename().string())));
  return threads;
}

}  // namespace dtype_guard::san
