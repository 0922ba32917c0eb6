// What stands in a JSON string behind a backslash.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dtype_guard {

// No text: it was read. Else what was expected instead, or what is wrong with it.
struct EscapeProblem {
  const char* text = nullptr;
  bool is_malformed = false;
};

// Reads the escape from `at`, behind the backslash, which moves behind it or to the fault; appends what it
// means.
EscapeProblem read_escape(std::string_view text, std::size_t& at, std::string& to);

// The string whose first character stands at `at`, behind its quotation mark; the text was parsed before.
std::string json_string_at(std::string_view text, std::size_t at);

}  // namespace dtype_guard
