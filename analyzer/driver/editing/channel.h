// The analysing process's end of the pipe to the server.
#pragma once

#include <deque>

#include "analyzer/lsp/json.h"
#include "analyzer/lsp/message_stream.h"

namespace dtype_guard::driver {

class Channel {
 public:
  Channel(int in, int out) : in_(in), out_(out) {}
  // The next message; waits for one. Nothing once the server has gone.
  std::optional<lsp::Json> next();
  // Takes what has come meanwhile, without waiting.
  void look();
  const std::deque<lsp::Json>& waiting() const { return waiting_; }
  void send(const lsp::Json& message) const;

 private:
  bool read(bool wait);

  int in_, out_;
  lsp::MessageStream stream_;
  std::deque<lsp::Json> waiting_;
  bool ended_ = false;
};

}  // namespace dtype_guard::driver
