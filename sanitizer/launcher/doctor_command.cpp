// Predicts what dtype-san will see of a process or command, and what will be in its way.
#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

#include "rules/text/printable.h"
#include "sanitizer/attach/attach_turn.h"
#include "sanitizer/attach/control.h"
#include "sanitizer/attach/observer_note.h"
#include "sanitizer/attach/pending_join.h"
#include "sanitizer/launcher/commands.h"
#include "sanitizer/launcher/doctor_torch.h"
#include "sanitizer/launcher/executable.h"
#include "sanitizer/launcher/library.h"
#include "sanitizer/launcher/needed_libraries.h"
#include "sanitizer/launcher/output.h"
#include "sanitizer/protocol/mailbox.h"

namespace dtype_guard::san {
namespace {

// One line for each thing looked at; "no" decides the exit status.
class Diagnosis {
 public:
  void good(const std::string& text) { line("ok", text); }
  void note(const std::string& text) { line("note", text); }
  void bad(const std::string& text) {
    line("no", text);
    fine_ = false;
  }
  int status() const { return fine_ ? 0 : 1; }

 private:
  static void line(const char* mark, const std::string& text) { fmt::print("{:<5}{}\n", mark, text); }
  bool fine_ = true;
};

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool is_own_library(const std::string& path) { return base_name(path).starts_with("libdtype_san.so"); }

// The files that are mapped with a program, as its user knows them and as they can be opened here.
struct Object {
  std::string name;
  std::string file;
  bool is_gone = false;
};
enum class When : std::uint8_t { kRunning, kNotStarted };

void look_at_copies(const std::vector<Object>& objects, When when, Diagnosis& diagnosis) {
  int found = 0;
  for (const auto& [name, file, is_gone] : objects) {
    if (is_own_library(name)) continue;
    if (is_gone && access(file.c_str(), R_OK) != 0) {
      diagnosis.note(
          fmt::format("'{}' was removed or replaced while it is in use: whether it holds flash_ref "
                      "can be looked at by root alone",
                      name));
      ++found;
    } else if (has_observer_note(file)) {
      diagnosis.good(
          fmt::format("'{}' holds flash_ref with an observer slot: every call to it is seen", name));
      ++found;
    } else if (exports_flash_ref(file)) {
      diagnosis.note(fmt::format("'{}' holds flash_ref without an observer slot: {}", name,
                                 when == When::kRunning ? "after attaching, calls through an address that "
                                                          "was taken before (dlsym, ctypes) are not seen; "
                                                          "preload the library to see all"
                                                        : "calls inside it are not seen, others are"));
      ++found;
    }
  }
  if (found == 0)
    diagnosis.note(when == When::kRunning
                       ? "no copy of flash_ref is loaded yet; one that is loaded later is seen"
                       : "it is not linked with flash_ref; a copy that it opens later is seen");
}

void look_at_python(const std::vector<Object>& objects, Diagnosis& diagnosis) {
  for (const Object& object : objects) {
    const std::string name = base_name(object.name);
    if (!name.starts_with("libpython3") && !name.starts_with("python3")) continue;
    diagnosis.note(
        fmt::format("Python ({}): stacks have its frames where the layout of that version is known", name));
    return;
  }
}

void look_at_torch(const std::vector<Object>& objects, const std::vector<std::string>& journals,
                   Diagnosis& diagnosis) {
  for (const Object& object : objects) {
    if (!is_torch(object.name)) continue;
    const TorchDiagnosis found = diagnose_torch(object.name, object.file, journals);
    found.can_be_watched ? diagnosis.good(found.text) : diagnosis.note(found.text);
    if (!found.not_seen.empty()) diagnosis.note(found.not_seen);
    return;
  }
}

// Of a process that has the library; none while nothing was written.
std::vector<std::string> journals_of(const ProcessFacts& process) {
  try {
    const auto control = read_control(process);
    if (control && access(control->journal.c_str(), R_OK) == 0) return {control->journal};
  } catch (const AttachError&) {
  }
  return {};
}

void look_at_gpu(const ProcessFacts& process, Diagnosis& diagnosis) {
  if (has_object(process, "libcuda.so") || has_object(process, "libcudart.so"))
    diagnosis.note(
        "uses CUDA: calls of watched libraries are seen, and kernel launches with 'attach --options "
        "cupti=on' "
        "where no profiler holds CUPTI");
}

// True when the library is in the process or on its way.
bool look_at_library(const ProcessFacts& process, Diagnosis& diagnosis) {
  const pid_t pid = process.pid;
  if (has_ended(pid) || !out_of_reach(process).empty()) return false;  // said as an obstacle
  for (const std::string& object : process.objects)
    if (is_own_library(object) && is_gone(object))
      diagnosis.note(
          fmt::format("'{}' was removed or replaced since: the process goes on with what it has loaded",
                      printable(object.substr(0, object.rfind(" (")))));
  if (const auto control = read_control(process)) {
    diagnosis.good(fmt::format("has dtype-san {} in it, switched {}: 'dtype-san {} {}' changes that",
                               control->library_version, control->on ? "on" : "off",
                               control->on ? "off" : "on", pid));
    if (!control->has_descriptor)
      diagnosis.note(
          "it has closed the descriptor of its switch, or its limit leaves no room for one: switching it "
          "needs the right to ptrace");
    if (!control->problem.empty())
      diagnosis.bad(fmt::format("what it calls is not all recorded: {}", control->problem));
    return true;
  }
  if (const std::string tool = AttachTurn::holder(pid); !tool.empty()) {
    diagnosis.note(fmt::format("{} is joining process {} at this moment", tool, pid));
    return true;
  }
  if (const auto pending = find_pending_join(process)) {
    diagnosis.note(
        pending->is_loading
            ? std::string("the library is being loaded into it, by an attach that may have been ended: it is "
                          "watched once that is done")
            : fmt::format(
                  "an attach of it was ended in the middle: 'dtype-san attach {}' finishes it; without, "
                  "what waits for that in the process is gone after {} s",
                  pid, kGoSeconds));
    return true;
  }
  const std::string there = without_switch(process);
  if (!there.empty()) diagnosis.good(there);
  return !there.empty();
}

// As ps shows a process without a command line: a thread of the kernel, or one that has ended.
std::string short_name(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{}/comm", pid));
  std::string name;
  std::getline(in, name);
  return fmt::format("[{}]", printable(name));
}

int diagnose_process(pid_t pid, const std::string& library) {
  Diagnosis diagnosis;
  const ProcessFacts process = read_process(pid);
  diagnosis.good(fmt::format("process {}: {}", pid,
                             process.command.empty() ? short_name(pid) : printable_command(process.command)));
  if (look_at_library(process, diagnosis)) {
    // Nothing more is to be found out about joining it.
  } else if (const std::string problem = obstacle(process, library); !problem.empty()) {
    diagnosis.bad(fmt::format("cannot be attached to: it {}", problem));
    return diagnosis.status();
  } else if (std::ifstream(fmt::format("/proc/{}/mem", process.live_thread), std::ios::binary).fail()) {
    diagnosis.bad(fmt::format("cannot be attached to: it {}", permission_problem(process)));
  } else {
    diagnosis.good(fmt::format("can be attached to with {}", library));
  }
  std::vector<Object> objects;
  for (std::size_t i = 0; i < process.objects.size(); ++i)
    objects.push_back({printable(process.objects[i]), mapped_file(process, i), is_gone(process.objects[i])});
  look_at_copies(objects, When::kRunning, diagnosis);
  look_at_torch(objects, journals_of(process), diagnosis);
  look_at_python(objects, diagnosis);
  look_at_gpu(process, diagnosis);
  return diagnosis.status();
}

int diagnose_command(const std::string& command, const std::string& library) {
  Diagnosis diagnosis;
  const CommandCheck check = check_command(command, library_identity(library));
  if (check.status != 0) {
    diagnosis.bad(check.problem);
    return diagnosis.status();
  }
  diagnosis.good(fmt::format("'{}' can be started with {}", check.path, library));
  std::string problem;
  const auto program = read_elf(check.path, problem);
  if (!program) {
    diagnosis.note(
        "it is a script: what its interpreter loads is not looked at; see 'dtype-san doctor -- INTERPRETER'");
    return diagnosis.status();
  }
  std::vector<Object> objects = {{check.path, check.path, false}};
  for (const std::string& file : linked_files(check.path, program->interpreter))
    objects.push_back({file, file, false});
  look_at_copies(objects, When::kNotStarted, diagnosis);
  look_at_python(objects, diagnosis);
  return diagnosis.status();
}

void diagnose_machine() {
  std::ifstream in("/proc/sys/kernel/yama/ptrace_scope");
  std::string scope;
  if (!(in >> scope))
    fmt::print("ok   attaching: no Yama limits on ptrace\n");
  else if (scope == "0" || geteuid() == 0)
    fmt::print("ok   attaching: ptrace_scope is {}\n", scope);
  else
    fmt::print(
        "note attaching needs root here: /proc/sys/kernel/yama/ptrace_scope is {}; preloading, and switching "
        "a job that "
        "was started with start=dormant, do not\n",
        scope);
}

}  // namespace

int doctor_command(const DoctorArguments& arguments) {
  const pid_t pid = arguments.pid.empty() ? 0 : parse_pid(arguments.pid);
  const std::string library = find_library(arguments.library).string();
  fmt::print("ok   library {}\n", library);
  if (!arguments.command.empty()) return diagnose_command(arguments.command.front(), library);
  diagnose_machine();
  return pid == 0 ? 0 : diagnose_process(pid, library);
}

}  // namespace dtype_guard::san
