#include "sanitizer/attach/own_child.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <string_view>

#include "sanitizer/attach/process_facts.h"

namespace dtype_guard::san {
namespace {

constexpr char kResult = 'r', kError = 'e';  // the first byte that the child sends

using Clock = std::chrono::steady_clock;
// More than what it waits for takes, all together.
constexpr auto kChildTime = std::chrono::seconds(120);
// After which it is left alone: killed, it could not put the thread back.
constexpr auto kEndTime = std::chrono::seconds(30);

// Without those that are ignored, by nohup say: blocked, they would wait all the same.
sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) {
    struct sigaction action = {};
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) sigaddset(&set, number);
  }
  return set;
}

void send(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(to, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // it is not waited for any more
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

// SIGTERM ends the child, except while it shields a borrowed thread.
[[noreturn]] void live_as_child(pid_t parent, int to, const std::function<std::string()>& work) {
  setpgid(0, 0);  // not setsid: a new session is a scheduling group of its own, in which urgency means less
  signal(SIGTERM, SIG_DFL);
  const sigset_t ending = ending_signals();
  signal(SIGPIPE, SIG_IGN);
  pthread_sigmask(SIG_UNBLOCK, &ending, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);
  try {
    send(to, kResult + work());
  } catch (const AttachError& error) {
    send(to, kError + error.message);
  } catch (const std::exception& error) {
    send(to, kError + std::string(error.what()));
  }
  _exit(0);
}

// Everything that the child sends, to its end. A signal that is to end this command ends the child first, and
// so does the end of its time. Nothing when the child does not come to its end even then.
std::optional<std::string> receive(int from, pid_t child) {
  const sigset_t ending = ending_signals();
  const int notices = signalfd(-1, &ending, SFD_CLOEXEC);
  std::string received;
  pollfd waits[] = {{from, POLLIN, 0}, {notices, POLLIN, 0}};
  auto end = Clock::now() + kChildTime;
  bool is_told_to_end = false;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0 && is_told_to_end) return std::nullopt;
    const int ready = left > 0 ? poll(waits, 2, static_cast<int>(left)) : 0;
    if (ready < 0 && errno != EINTR) break;
    if (ready < 0) continue;
    if (ready == 0 || (waits[1].revents & POLLIN) != 0) {
      kill(child, SIGTERM);
      waits[1].fd = -1;
      if (!is_told_to_end) end = Clock::now() + kEndTime;
      is_told_to_end = true;
    }
    if (ready == 0 || waits[0].revents == 0) continue;
    char buffer[4096];
    const ssize_t count = read(from, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    received.append(buffer, static_cast<std::size_t>(count));
  }
  if (notices >= 0) close(notices);
  return received;
}

}  // namespace

std::string by_own_child(const std::function<std::string()>& work) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw AttachError{fmt::format("there is no pipe for a child of this command: {}", strerror(errno))};
  const sigset_t ending = ending_signals();
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &ending, &before);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    live_as_child(parent, ends[1], work);
  }
  const int refused = errno;
  close(ends[1]);
  const std::optional<std::string> answer = child > 0 ? receive(ends[0], child) : "";
  close(ends[0]);
  if (!answer) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw AttachError{fmt::format(
        "the child of this command that borrows a thread (process {}) does not come to its end: it is "
        "left alone, and puts the thread back when it does",
        child)};
  }
  const std::string& received = *answer;
  int status = 0;
  const bool known = child > 0 && waitpid(child, &status, 0) == child;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);  // one of these signals ends this command here
  if (child < 0) throw AttachError{fmt::format("this command can have no child: {}", strerror(refused))};
  if (!received.empty() && received.front() == kResult) return received.substr(1);
  if (!received.empty()) throw AttachError{received.substr(1)};
  throw AttachError{
      fmt::format("the child of this command that borrows a thread ended early{}",
                  known && WIFSIGNALED(status)
                      ? fmt::format(", by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
                      : "")};
}

}  // namespace dtype_guard::san
