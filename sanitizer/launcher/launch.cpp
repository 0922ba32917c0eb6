#include "sanitizer/launcher/launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace dtype_guard::san {
namespace {

constexpr int kForwarded[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCONT, SIGPIPE, SIGXFSZ};

std::atomic<pid_t> command_pid{0};

// A terminal sends ^C to the whole foreground group, the command included; only what another process sent to
// this one alone is passed on.
// A report that cannot be written (SIGPIPE, SIGXFSZ, of which the kernel says that it sent them) must not end
// this process before it has taken on the command's status.
void forward(int signal, siginfo_t* info, void*) {
  if (info->si_code > 0 || info->si_pid == getpid()) return;
  if (const pid_t pid = command_pid.load(); pid > 0) kill(pid, signal);
}

// This process stops with the command, as far as its group can be stopped.
void stop_too(int number, siginfo_t* info, void*) {
  forward(number, info, nullptr);
  struct sigaction standard = {}, ours = {};
  standard.sa_handler = SIG_DFL;
  sigaction(number, &standard, &ours);
  raise(number);
  sigset_t only, mask;
  sigemptyset(&only);
  sigaddset(&only, number);
  sigprocmask(SIG_UNBLOCK, &only, &mask);  // stops here
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  sigaction(number, &ours, nullptr);
}

void install(int signal, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action = {}, old = {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(signal, nullptr, &old);
  if (old.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
}

void install_handlers() {
  for (int signal : kForwarded) install(signal, forward);
  install(SIGTSTP, stop_too);
}

[[noreturn]] void become(const Launch& launch, int report, const sigset_t& mask) {
  for (const auto& [name, value] : launch.environment) setenv(name.c_str(), value.c_str(), 1);
  setenv("DTYPE_SAN_COMMAND_PID", std::to_string(getpid()).c_str(), 1);
  std::vector<char*> argv;
  for (const std::string& word : launch.command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  execvp(launch.path.c_str(), argv.data());
  int error = errno;
  if (write(report, &error, sizeof error) < 0) _exit(126);
  _exit(error == ENOENT ? 127 : 126);
}

}  // namespace

LaunchResult launch(const Launch& launch) {
  LaunchResult result;
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
    result.error = errno;
    return result;
  }
  sigset_t all, mask;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &mask);
  pid_t pid = fork();
  if (pid == 0) become(launch, pipe_ends[1], mask);
  int fork_error = errno;
  close(pipe_ends[1]);
  command_pid = pid;
  if (pid > 0) install_handlers();
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  if (pid < 0) {
    result.error = fork_error;
  } else {
    result.pid = pid;
    int error = 0;
    ssize_t count;
    do {
      count = read(pipe_ends[0], &error, sizeof error);
    } while (count < 0 && errno == EINTR);
    if (count == sizeof error) result.error = error;
    while (waitpid(pid, &result.status, 0) < 0 && errno == EINTR) {
    }
    command_pid = 0;
  }
  close(pipe_ends[0]);
  return result;
}

int end_as(const LaunchResult& result) {
  if (WIFEXITED(result.status)) return WEXITSTATUS(result.status);
  int signal_number = WTERMSIG(result.status);
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);  // the command has left its core already, if any
  signal(signal_number, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal_number);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  raise(signal_number);
  return 128 + signal_number;
}

PrivateFolder::PrivateFolder(bool plain_path) {
  const char* variable = std::getenv("TMPDIR");
  for (std::string parent :
       {std::string(variable != nullptr ? variable : ""), std::string("/tmp"), std::string("/var/tmp")}) {
    if (parent.empty() || parent[0] != '/') continue;
    if (plain_path && parent.find_first_of(" \t\n:") != std::string::npos) continue;
    std::string name = parent + "/dtype-san.XXXXXX";
    if (mkdtemp(name.data()) != nullptr) {
      path_ = name;
      return;
    }
    problem_ = fmt::format("{}: cannot make a directory there: {}; set TMPDIR to one that can be written",
                           parent, std::strerror(errno));
  }
}

PrivateFolder::~PrivateFolder() {
  std::error_code error;
  if (!path_.empty()) std::filesystem::remove_all(path_, error);
}

}  // namespace dtype_guard::san
