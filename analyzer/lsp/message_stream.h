// Messages between header lines, as LSP frames them: "Content-Length: N", an empty line, N bytes of JSON.
// What comes is read in whatever pieces a pipe gives it; what is no header or too large is told once and
// passed over, so that the next message is found.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace dtype_guard::lsp {

struct Received {
  std::string body;
  std::string problem;  // not empty: there is no body, and this is why
};

class MessageStream {
 public:
  // A larger body is passed over without being kept.
  static constexpr std::size_t kLargestBody = std::size_t{64} << 20;
  static constexpr std::size_t kLargestHeader = std::size_t{8} << 10;

  void add(std::string_view bytes) { pending_.append(bytes); }
  // The next message or problem; nothing until more bytes have come.
  std::optional<Received> next();
  // Whether the bytes so far end within a message.
  bool is_inside() const { return in_body_ || to_skip_ > 0 || at_ < pending_.size(); }

 private:
  std::optional<Received> header();
  std::optional<Received> body();
  std::optional<std::string_view> line();
  Received give_up(std::string problem);
  void drop_read();

  std::string pending_;
  std::size_t at_ = 0;  // what is before has been read
  std::size_t header_bytes_ = 0;
  std::optional<std::size_t> length_;
  std::size_t to_skip_ = 0;  // of a body that is too large
  bool in_header_ = false, in_body_ = false, lost_ = false;
};

std::string framed(std::string_view body);

}  // namespace dtype_guard::lsp
