// JSON with positions. Every file that people write or hand to us (contracts, operator tables, reports) is
// read into a JsonNode, which knows its line and its JSON pointer, so that an error can name the very place.
// Duplicate keys, nesting deeper than kMaxDepth and bytes that are no UTF-8 are refused while reading.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dtype_guard {

struct JsonMember;

// Where each value of a text stands, for messages. The root is the first.
struct JsonPlaces {
  struct Place {
    std::uint32_t parent = 0;
    bool is_member = false;
    std::size_t at = 0;  // of a member: where its key stands in the text; else its index
  };
  std::string text;
  std::vector<Place> all;
};

class JsonNode {
 public:
  static constexpr int kMaxDepth = 64;
  struct Null {};
  using Items = std::vector<JsonNode>;
  using Members = std::vector<JsonMember>;  // in file order

  // Defined where JsonMember is complete, which their bodies need.
  JsonNode();
  JsonNode(const JsonNode&);
  JsonNode(JsonNode&&) noexcept;
  JsonNode& operator=(const JsonNode&);
  JsonNode& operator=(JsonNode&&) noexcept;
  ~JsonNode();

  int line = 1;
  // RFC 6901; empty for the root. Made when asked for: only messages need it.
  std::string pointer() const;
  // Of a member: the byte of the text behind its key's opening quotation mark.
  std::size_t key_offset() const;
  std::variant<Null, bool, std::int64_t, std::uint64_t, double, std::string, Items, Members> value;

  bool is_null() const { return std::holds_alternative<Null>(value); }
  const std::string* string() const { return std::get_if<std::string>(&value); }
  const bool* boolean() const { return std::get_if<bool>(&value); }
  const Items* items() const { return std::get_if<Items>(&value); }
  const Members* members() const { return std::get_if<Members>(&value); }
  // The member of that name, or nullptr (also when this is no object).
  const JsonNode* member(std::string_view key) const;
  // What a message calls it: the string "abc", the number 7, an array, an object, null.
  std::string describe() const;

 private:
  friend class JsonParser;
  std::shared_ptr<const JsonPlaces> places_;  // of the whole text
  std::uint32_t place_ = 0;
};

struct JsonMember {
  std::string key;
  JsonNode node;
};

// Text that is no JSON. `problem` reads "found X, expected Y" as far as the grammar can tell.
class JsonError : public std::runtime_error {
 public:
  JsonError(int at_line, std::string at_pointer, std::string what_is_wrong);
  int line;
  std::string pointer;
  std::string problem;
};

// The pointer of member `key` or item `index` below `pointer`, escaped as RFC 6901 asks.
std::string pointer_to(const std::string& pointer, std::string_view key);
std::string pointer_to(const std::string& pointer, std::size_t index);

}  // namespace dtype_guard
