// The analysing process's end of the pipe to the server.
#pragma once

#include <chrono>
#include <deque>
#include <optional>

#include "analyzer/lsp/json.h"
#include "analyzer/lsp/message_stream.h"

namespace dtype_guard::driver {

class Channel {
 public:
  Channel(int in, int out) : in_(in), out_(out) {}
  // The next message; waits for one, that long at most. Nothing once the server has gone, or it is time.
  std::optional<lsp::Json> next(std::optional<std::chrono::milliseconds> patience);
  bool has_ended() const { return ended_; }
  // Takes what has come meanwhile, without waiting.
  void look();
  const std::deque<lsp::Json>& waiting() const { return waiting_; }
  void send(const lsp::Json& message) const;

 private:
  bool read(int milliseconds);

  int in_, out_;
  lsp::MessageStream stream_;
  std::deque<lsp::Json> waiting_;
  bool ended_ = false;
};

}  // namespace dtype_guard::driver
