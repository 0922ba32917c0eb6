#include "tests/oracle/interpreter/symbols.h"

#include <deque>
#include <unordered_map>
#include <vector>

namespace dtype_guard::oracle {
namespace {
struct Texts {
  std::deque<std::string> all = {""};  // which stay where they are
  std::unordered_map<std::string_view, std::uint32_t> numbers = {{all.front(), 0}};
};
Texts& texts() {
  static Texts out;
  return out;
}

template <typename Write>
Symbol numbered(std::vector<Symbol>& known, std::size_t number, Write write) {
  while (known.size() <= number) known.emplace_back(write(known.size()));
  return known[number];
}
}  // namespace

Symbol::Symbol(std::string_view text) {
  Texts& own = texts();
  const auto known = own.numbers.find(text);
  if (known != own.numbers.end()) {
    number_ = known->second;
    return;
  }
  number_ = static_cast<std::uint32_t>(own.all.size());
  own.numbers.emplace(own.all.emplace_back(text), number_);
}

std::string_view Symbol::view() const { return texts().all[number_]; }

Symbol cell_of_variable(std::size_t variable) {
  static std::vector<Symbol> known;
  return numbered(known, variable, [](std::size_t number) { return "v" + std::to_string(number); });
}

Symbol cell_of_element(std::size_t index) {
  static std::vector<Symbol> known;
  return numbered(known, index, [](std::size_t number) { return "[" + std::to_string(number) + "]"; });
}

Symbol cell_of_field(std::string_view name) {
  static std::unordered_map<std::string_view, Symbol> known;
  if (const auto found = known.find(name); found != known.end()) return found->second;
  const Symbol out("." + std::string(name));
  known.emplace(out.view().substr(1), out);
  return out;
}

}  // namespace dtype_guard::oracle
