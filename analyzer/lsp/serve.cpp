#include "analyzer/lsp/serve.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iostream>
#include <utility>

#include "analyzer/lsp/session.h"

namespace dtype_guard::lsp {

namespace {

constexpr std::chrono::seconds kStuckAfter(300);
constexpr std::chrono::seconds kLook(2);  // how often whether it is
constexpr int kMostRestarts = 8;          // within the time below; then it waits
constexpr std::chrono::seconds kCountRestartsFor(60);

class Server {
 public:
  Server(const std::string& version, const Analyse& analyse)
      : worker_(analyse),
        session_(
            version, [this](const Json& message) { to_client(message); },
            [this](const Json& message) { worker_.send(message); }) {}

  int run() {
    ::signal(SIGPIPE, SIG_IGN);
    worker_.start();
    while (!session_.exit_status()) {
      wait();
      session_.at_time(Clock::now());
      if (has_lost_client()) session_.client_has_gone();
    }
    send_to_client(true);
    return *session_.exit_status();
  }

 private:
  // A client may be gone while another process holds its pipes. One in a namespace of its own is not seen
  // from the start, and is not missed.
  bool has_lost_client() {
    const int process = session_.client_process();
    if (process <= 0) return false;
    const bool is_there = ::kill(process, 0) == 0 || errno != ESRCH;
    was_seen_ = was_seen_ || is_there;
    return was_seen_ && !is_there;
  }

  void to_client(const Json& message) { unsent_ += framed(dumped(message)); }

  void wait() {
    send_to_client(false);
    pollfd waits[] = {{STDIN_FILENO, POLLIN, 0},
                      {worker_.output(), POLLIN, 0},
                      {worker_.wants_to_write() ? worker_.input() : -1, POLLOUT, 0},
                      {unsent_.empty() ? -1 : STDOUT_FILENO, POLLOUT, 0}};
    Clock::duration time = kLook;
    if (const auto wakes = session_.wakes_at())
      time = std::clamp<Clock::duration>(*wakes - Clock::now(), Clock::duration::zero(), time);
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(time).count();
    if (::poll(waits, std::size(waits), static_cast<int>(milliseconds)) < 0 && errno != EINTR) return;
    if (waits[0].revents != 0) read_client();
    if (waits[2].revents != 0) worker_.write_some();
    if (waits[1].revents != 0) read_worker();
    worker_.end_if_stuck(kStuckAfter);
  }

  void read_client() {
    char buffer[1U << 16U];
    const ssize_t got = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) {
      if (client_.is_inside()) std::cerr << "dtype-lint: the input ended within a message\n";
      return session_.client_has_gone();
    }
    client_.add({buffer, static_cast<std::size_t>(got)});
    while (std::optional<Received> each = client_.next()) session_.receive(*each);
  }

  void read_worker() {
    for (const Json& each : worker_.read_some()) session_.from_analysis(each);
    const std::optional<std::string> how = worker_.ended();
    if (!how) return;
    const std::string file = worker_.was_at();
    std::cerr << "dtype-lint: the analysis ended: " << *how << (file.empty() ? "" : " at ") << file << '\n';
    const Clock::time_point now = Clock::now();
    std::erase_if(restarts_, [&](Clock::time_point each) { return now - each > kCountRestartsFor; });
    restarts_.push_back(now);
    worker_.start();
    const bool too_often = restarts_.size() > kMostRestarts;
    session_.analysis_restarted(*how, too_often ? "" : file);
  }

  // A client that does not read must not keep its other messages from being read.
  void send_to_client(bool all) {
    while (sent_ < unsent_.size()) {
      pollfd out = {STDOUT_FILENO, POLLOUT, 0};
      if (::poll(&out, 1, all ? 1000 : 0) <= 0) return;
      const std::size_t some =
          std::min<std::size_t>(unsent_.size() - sent_, 4096);  // fits where poll says so
      const ssize_t written = ::write(STDOUT_FILENO, unsent_.data() + sent_, some);
      if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (written < 0) {
        sent_ = unsent_.size();
        return session_.client_has_gone();
      }
      sent_ += static_cast<std::size_t>(written);
    }
    unsent_.clear();
    sent_ = 0;
  }

  Worker worker_;
  MessageStream client_;
  std::string unsent_;
  std::size_t sent_ = 0;  // of it
  std::vector<Clock::time_point> restarts_;
  bool was_seen_ = false;  // the client's process
  Session session_;
};

}  // namespace

int serve(const std::string& version, const Analyse& analyse) { return Server(version, analyse).run(); }

}  // namespace dtype_guard::lsp
