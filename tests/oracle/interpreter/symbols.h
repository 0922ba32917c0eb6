// Texts that values, cells and types of objects have, each kept once: a run copies and compares numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dtype_guard::oracle {

class Symbol {
 public:
  constexpr Symbol() = default;  // of the empty text
  explicit Symbol(std::string_view text);
  std::string_view view() const;
  bool is_element() const { return view().starts_with('['); }
  friend bool operator==(Symbol, Symbol) = default;
  friend bool operator==(Symbol a, std::string_view b) { return a.view() == b; }

 private:
  std::uint32_t number_ = 0;
};

// The names of cells: "v3", "[3]", ".name".
Symbol cell_of_variable(std::size_t variable);
Symbol cell_of_element(std::size_t index);
Symbol cell_of_field(std::string_view name);

}  // namespace dtype_guard::oracle
