// The process that analyses, apart from the server: where it crashes or does not come back, the server goes
// on and starts another, which leaves out the file that it was at.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/lsp/json.h"
#include "analyzer/lsp/message_stream.h"

namespace dtype_guard::lsp {

// What the other process is at, written by it in memory that both see.
class Mark {
 public:
  Mark();
  ~Mark();
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
  void set(std::string_view path);  // empty: waiting
  std::string path() const;
  std::uint64_t count() const;  // how often it was set

 private:
  struct Shared;
  Shared* shared_;
};

// What the process does: requests come from one descriptor and answers go to the other, framed as messages,
// until there are no more.
using Analyse = std::function<void(int in, int out, Mark& mark)>;

class Worker {
 public:
  explicit Worker(Analyse analyse) : analyse_(std::move(analyse)) {}
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void start();
  bool is_running() const { return process_ > 0; }
  int output() const { return from_; }  // to wait for
  int input() const { return to_; }
  bool wants_to_write() const { return is_running() && !unsent_.empty(); }

  void send(const Json& message);
  void write_some();
  // What came; nothing further once ended() says how the process ended.
  std::vector<Json> read_some();
  // "signal 11"; set when it has ended by itself. Asks once.
  std::optional<std::string> ended();
  // A step that takes longer than this does not come back.
  void end_if_stuck(std::chrono::seconds limit);
  std::string was_at() const { return mark_.path(); }
  void stop();

 private:
  void close_all();

  Analyse analyse_;
  Mark mark_;
  pid_t process_ = -1;
  int to_ = -1, from_ = -1;
  std::string unsent_;
  std::size_t sent_ = 0;  // of it
  MessageStream received_;
  std::string killed_;  // why this side ended it
  std::uint64_t last_count_ = 0;
  std::chrono::steady_clock::time_point last_step_;
};

}  // namespace dtype_guard::lsp
