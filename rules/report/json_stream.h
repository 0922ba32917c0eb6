// Writes JSON member by member, without a document in memory: 25,000 findings are written in a fraction of a
// second. The layout is that of common pretty printers, so reports can be compared as text. Strings may hold
// any bytes; what is no UTF-8 becomes U+FFFD.
#pragma once

#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace dtype_guard {

class JsonStream {
 public:
  // `indent` blanks a level; 0 writes everything on one line. `in_html` also escapes what could end a script
  // element.
  explicit JsonStream(std::ostream& out, int indent = 2, bool in_html = false);
  JsonStream(const JsonStream&) = delete;
  JsonStream& operator=(const JsonStream&) = delete;
  ~JsonStream();

  void begin_object() { begin('{'); }
  void end_object() { end('}'); }
  void begin_array() { begin('['); }
  void end_array() { end(']'); }
  JsonStream& key(std::string_view name);

  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(const std::string& text) { value(std::string_view(text)); }
  void value(bool truth);
  void null();
  template <std::integral Number>
  void value(Number number) {
    if constexpr (std::is_signed_v<Number>) {
      signed_number(number);
    } else {
      unsigned_number(number);
    }
  }
  template <typename Item>
  void value(const std::vector<Item>& items) {
    begin_array();
    for (const Item& item : items) value(item);
    end_array();
  }

  template <typename Value>
  void member(std::string_view name, const Value& content) {
    key(name).value(content);
  }
  // Members that say nothing are left out by formats whose readers do not ask for them.
  void member_if(std::string_view name, std::string_view text) {
    if (!text.empty()) member(name, text);
  }
  template <typename Item>
  void member_if(std::string_view name, const std::vector<Item>& items) {
    if (!items.empty()) member(name, items);
  }

 private:
  void begin(char bracket);
  void end(char bracket);
  void separate();
  void new_line();
  void signed_number(std::int64_t number);
  void unsigned_number(std::uint64_t number);
  void quoted(std::string_view text);
  void flush();

  std::ostream& out_;
  std::string buffer_;
  int indent_;
  bool in_html_;
  int depth_ = 0;
  bool first_ = true;       // nothing written at this level yet
  bool after_key_ = false;  // a value is due on this line
};

}  // namespace dtype_guard
