// Text in a fixed array: what the preloaded library uses where other code would use a string or stdio,
// because a hook may run inside malloc, a signal handler or a half-started process. Text that does not fit is
// cut, never overrun.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dtype_guard::san {

class TextSink {
 public:
  TextSink(char* data, std::size_t capacity) : data_(data), capacity_(capacity) { data_[0] = '\0'; }

  TextSink& operator<<(std::string_view text) {
    for (char c : text) {
      if (size_ + 1 >= capacity_) break;
      data_[size_++] = c;
    }
    data_[size_] = '\0';
    return *this;
  }
  TextSink& operator<<(char c) { return *this << std::string_view(&c, 1); }
  TextSink& operator<<(std::uint64_t number) {
    char digits[20];
    std::size_t at = sizeof digits;
    do {
      digits[--at] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    return *this << std::string_view(digits + at, sizeof digits - at);
  }

  void clear() {
    size_ = 0;
    data_[0] = '\0';
  }
  const char* c_str() const { return data_; }
  std::size_t size() const { return size_; }
  std::string_view view() const { return {data_, size_}; }

 private:
  char* data_;
  std::size_t capacity_;
  std::size_t size_ = 0;
};

template <std::size_t N>
class TextBuffer : public TextSink {
 public:
  TextBuffer() : TextSink(storage_, N) {}
  TextBuffer(const TextBuffer&) = delete;
  TextBuffer& operator=(const TextBuffer&) = delete;

 private:
  char storage_[N];
};

}  // namespace dtype_guard::san
