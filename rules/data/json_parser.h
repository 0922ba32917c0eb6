// The text of JSON (RFC 8259) taken apart into values and their lines. Written for speed: the rules' own
// tables go through it whenever a tool starts, and reports of many megabytes do. What strings may hold is
// checked strictly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "rules/data/located_json.h"

namespace dtype_guard {

// Python's json writes numbers that are none of JSON: NaN, Infinity and -Infinity. Notebooks have them in
// outputs.
enum class JsonNumbers : std::uint8_t { kOfJson, kOfPython };

class JsonParser {
 public:
  JsonParser(JsonNode& root, std::string_view text, JsonNumbers numbers = JsonNumbers::kOfJson);
  void parse();  // throws JsonError

 private:
  void value(JsonNode& node, int depth);
  void object(JsonNode& node, int depth);
  void array(JsonNode& node, int depth);
  void number(JsonNode& node);
  bool number_of_python(JsonNode& node);
  void word(JsonNode& node);
  std::string string();
  void escape(std::string& to);
  void place(JsonNode& node, const JsonNode& parent, std::size_t at, bool is_member);
  void skip_space();
  void enter(const JsonNode& node, int depth);
  bool take(char c);
  [[noreturn]] void malformed(const std::string& what) const;
  [[noreturn]] void unexpected(const std::string& expected) const;

  JsonNode& root_;
  const JsonNode* open_ = nullptr;  // the innermost object or array
  std::shared_ptr<JsonPlaces> places_;
  std::string_view text_;  // the copy that the places keep
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  int line_ = 1;
  JsonNumbers numbers_;
};

JsonNode parse_located_json(std::string_view text, JsonNumbers numbers = JsonNumbers::kOfJson);

}  // namespace dtype_guard
