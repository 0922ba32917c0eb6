#include "analyzer/lsp/worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <exception>
#include <iostream>
#include <stdexcept>

namespace dtype_guard::lsp {

namespace {
constexpr std::size_t kLongestPath = 4096;
}

struct Mark::Shared {
  std::atomic<std::uint64_t> count = 0;
  char path[kLongestPath] = {};
};

Mark::Mark() {
  void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no memory to share with the analysing process");
  shared_ = new (memory) Shared;
}
Mark::~Mark() { ::munmap(shared_, sizeof(Shared)); }

void Mark::set(std::string_view path) {
  const std::size_t size = std::min(path.size(), kLongestPath - 1);
  std::memcpy(shared_->path, path.data(), size);
  shared_->path[size] = '\0';
  ++shared_->count;
}
std::string Mark::path() const { return {shared_->path, ::strnlen(shared_->path, kLongestPath)}; }
std::uint64_t Mark::count() const { return shared_->count; }

Worker::~Worker() { stop(); }

void Worker::close_all() {
  for (int* each : {&to_, &from_}) {
    if (*each >= 0) ::close(*each);
    *each = -1;
  }
}

void Worker::start() {
  int requests[2], answers[2];
  if (::pipe2(requests, O_CLOEXEC) != 0) throw std::runtime_error("no pipe for the analysing process");
  if (::pipe2(answers, O_CLOEXEC) != 0) throw std::runtime_error("no pipe for the analysing process");
  mark_.set("");
  const pid_t server = ::getpid();
  process_ = ::fork();
  if (process_ < 0) throw std::runtime_error(fmt::format("no process to analyse: {}", std::strerror(errno)));
  if (process_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != server) ::_exit(0);
    ::close(requests[1]);
    ::close(answers[0]);
    // The client's channel is the server's alone.
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
    int status = 0;
    try {
      analyse_(requests[0], answers[1], mark_);
    } catch (const std::exception& error) {
      std::cerr << "dtype-lint: " << error.what() << std::endl;
      status = 3;
    }
    ::_exit(status);
  }
  ::close(requests[0]);
  ::close(answers[1]);
  to_ = requests[1];
  from_ = answers[0];
  ::fcntl(to_, F_SETFL, O_NONBLOCK);
  ::fcntl(from_, F_SETFL, O_NONBLOCK);
  unsent_.clear();
  sent_ = 0;
  received_ = {};
  killed_.clear();
  last_count_ = 0;
  last_step_ = std::chrono::steady_clock::now();
}

void Worker::send(const Json& message) {
  if (!is_running()) return;
  unsent_ += framed(dumped(message));
  write_some();
}

void Worker::write_some() {
  while (sent_ < unsent_.size() && to_ >= 0) {
    const ssize_t written = ::write(to_, unsent_.data() + sent_, unsent_.size() - sent_);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // full, or the other side is gone, which ended() tells
    sent_ += static_cast<std::size_t>(written);
  }
  unsent_.clear();
  sent_ = 0;
}

std::vector<Json> Worker::read_some() {
  std::vector<Json> out;
  char buffer[1U << 16U];
  while (from_ >= 0) {
    const ssize_t got = ::read(from_, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) {
      ::close(from_);
      from_ = -1;
    }
    if (got <= 0) break;
    received_.add({buffer, static_cast<std::size_t>(got)});
  }
  while (std::optional<Received> each = received_.next()) {
    Json message = parsed(each->body);
    if (message.is_object()) out.push_back(std::move(message));
  }
  return out;
}

std::optional<std::string> Worker::ended() {
  if (!is_running() || from_ >= 0) return std::nullopt;
  int status = 0;
  if (::waitpid(process_, &status, 0) < 0) status = 0;
  process_ = -1;
  close_all();
  if (!killed_.empty()) return killed_;
  if (WIFSIGNALED(status)) return fmt::format("signal {}", WTERMSIG(status));
  return fmt::format("status {}", WEXITSTATUS(status));
}

void Worker::end_if_stuck(std::chrono::seconds limit) {
  if (!is_running() || !killed_.empty()) return;
  const auto now = std::chrono::steady_clock::now();
  const bool waits = mark_.path().empty();
  if (waits || mark_.count() != last_count_) {
    last_count_ = mark_.count();
    last_step_ = now;
  } else if (now - last_step_ > limit) {
    killed_ = fmt::format("no answer after {} seconds", limit.count());
    ::kill(process_, SIGKILL);
  }
}

void Worker::stop() {
  if (!is_running()) return;
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
  process_ = -1;
  close_all();
}

}  // namespace dtype_guard::lsp
