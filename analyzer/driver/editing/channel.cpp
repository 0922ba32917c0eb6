#include "analyzer/driver/editing/channel.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace dtype_guard::driver {

// False when nothing came in that time; -1 is for ever.
bool Channel::read(int milliseconds) {
  pollfd waits = {in_, POLLIN, 0};
  const int ready = ::poll(&waits, 1, milliseconds);
  if (ready < 0 && errno == EINTR) return true;
  if (ready <= 0) return false;
  char buffer[1U << 16U];
  const ssize_t got = ::read(in_, buffer, sizeof buffer);
  if (got < 0 && errno == EINTR) return true;
  if (got <= 0) {
    ended_ = true;
    return false;
  }
  stream_.add({buffer, static_cast<std::size_t>(got)});
  while (std::optional<lsp::Received> each = stream_.next()) {
    lsp::Json message = lsp::parsed(each->body);
    if (message.is_object()) waiting_.push_back(std::move(message));
  }
  return true;
}

void Channel::look() {
  while (!ended_ && read(0)) {
  }
}

std::optional<lsp::Json> Channel::next(std::optional<std::chrono::milliseconds> patience) {
  while (waiting_.empty() && !ended_) {
    const bool came = read(patience ? static_cast<int>(patience->count()) : -1);
    if (!came && patience) break;
  }
  if (waiting_.empty()) return std::nullopt;
  lsp::Json out = std::move(waiting_.front());
  waiting_.pop_front();
  return out;
}

void Channel::send(const lsp::Json& message) const {
  const std::string bytes = lsp::framed(lsp::dumped(message));
  std::size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t written = ::write(out_, bytes.data() + at, bytes.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    at += static_cast<std::size_t>(written);
  }
}

}  // namespace dtype_guard::driver
