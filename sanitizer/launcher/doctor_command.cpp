// Predicts what dtype-san will see of a process or command, and what will be in its way.
#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

#include "sanitizer/attach/control.h"
#include "sanitizer/attach/observer_note.h"
#include "sanitizer/launcher/commands.h"
#include "sanitizer/launcher/executable.h"
#include "sanitizer/launcher/library.h"
#include "sanitizer/launcher/output.h"

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

void look_at_copies(const ProcessFacts& process, Diagnosis& diagnosis) {
  int found = 0;
  for (const std::string& object : process.objects) {
    if (is_own_library(object)) continue;
    const std::string file = reachable(process, object);
    if (has_observer_note(file)) {
      diagnosis.good(
          fmt::format("'{}' holds flash_ref with an observer slot: every call to it is seen", object));
      ++found;
    } else if (exports_flash_ref(file)) {
      diagnosis.note(fmt::format(
          "'{}' holds flash_ref without an observer slot: after attaching, calls through an address "
          "that was taken before (dlsym, ctypes) are not seen; preload the library to see all",
          object));
      ++found;
    }
  }
  if (found == 0) diagnosis.note("no copy of flash_ref is loaded yet; one that is loaded later is seen");
}

void look_at_python(const ProcessFacts& process, Diagnosis& diagnosis) {
  for (const std::string& object : process.objects) {
    const std::string name = base_name(object);
    if (!name.starts_with("libpython3") && !name.starts_with("python3")) continue;
    diagnosis.note(fmt::format(
        "a Python process ({}): stacks have its frames where the layout of that version is known", name));
    return;
  }
}

void look_at_gpu(const ProcessFacts& process, Diagnosis& diagnosis) {
  if (has_object(process, "libcuda.so") || has_object(process, "libcudart.so"))
    diagnosis.note(
        "uses CUDA: calls of watched libraries are seen, and kernel launches with 'attach --options "
        "cupti=on' "
        "where no profiler holds CUPTI");
}

int diagnose_process(pid_t pid, const std::string& library) {
  Diagnosis diagnosis;
  const ProcessFacts process = read_process(pid);
  diagnosis.good(
      fmt::format("process {}: {}", pid, process.command.empty() ? "(a kernel thread?)" : process.command));
  if (const auto control = read_control(process)) {
    diagnosis.good(fmt::format("has dtype-san {} in it, switched {}: 'dtype-san {} {}' changes that",
                               control->library_version, control->on ? "on" : "off",
                               control->on ? "off" : "on", pid));
  } else if (const std::string problem = obstacle(process, library); !problem.empty()) {
    diagnosis.bad(fmt::format("cannot be attached to: it {}", problem));
    return diagnosis.status();
  } else if (std::ifstream(fmt::format("/proc/{}/mem", pid), std::ios::binary).fail()) {
    diagnosis.bad(fmt::format("cannot be attached to: it {}", permission_problem(process)));
  } else {
    diagnosis.good(fmt::format("can be attached to with {}", library));
  }
  look_at_copies(process, diagnosis);
  look_at_python(process, diagnosis);
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
  if (has_observer_note(check.path))
    diagnosis.good("it holds flash_ref itself, with an observer slot: every call to it is seen");
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
  const std::string library = find_library(arguments.library).string();
  fmt::print("ok   library {}\n", library);
  if (!arguments.command.empty()) return diagnose_command(arguments.command.front(), library);
  diagnose_machine();
  return arguments.pid.empty() ? 0 : diagnose_process(parse_pid(arguments.pid), library);
}

}  // namespace dtype_guard::san
