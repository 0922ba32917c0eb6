// How each instruction is spelt, shared by the printer and the parser: one row per Op, in the order of the
// enumeration.
#pragma once

#include <array>
#include <string_view>

#include "analyzer/flow/ir/ir.h"

namespace dtype_guard::flow {

// The parts after the mnemonic, in this order: name, place, constant, arguments, targets.
struct Mnemonic {
  std::string_view word;
  bool name = false;
  bool place = false;
  bool constant = false;
  enum class Arguments : std::uint8_t { kNone, kBare, kParenthesised } arguments = Arguments::kNone;
  std::size_t least = 0;  // of arguments
};

namespace mnemonic_detail {
using A = Mnemonic::Arguments;
inline constexpr std::array kRows = {
    Mnemonic{"const", false, false, true, A::kNone},
    Mnemonic{"param", false, false, true, A::kNone},
    Mnemonic{"copy", false, false, false, A::kBare, 1},
    Mnemonic{"phi", false, false, false, A::kBare, 1},
    Mnemonic{"op", true, false, false, A::kParenthesised},
    Mnemonic{"dtype_of", false, false, false, A::kBare, 1},
    Mnemonic{"options", false, false, false, A::kParenthesised},
    Mnemonic{"cast", false, false, false, A::kBare, 2},
    Mnemonic{"alloc", true, false, false, A::kParenthesised},
    Mnemonic{"object", true, false, false, A::kParenthesised},
    Mnemonic{"module", true, false, false, A::kParenthesised},
    Mnemonic{"pack", false, false, false, A::kParenthesised},
    Mnemonic{"closure", true, false, false, A::kParenthesised},
    Mnemonic{"register", true, false, true, A::kBare, 2},
    Mnemonic{"retype", false, false, false, A::kBare, 2},
    Mnemonic{"call", true, false, false, A::kParenthesised},
    Mnemonic{"load", false, true, false, A::kNone},
    Mnemonic{"store", false, true, false, A::kBare, 1},
    Mnemonic{"write", false, false, false, A::kBare, 2},
    Mnemonic{"address", false, true, false, A::kNone},
    Mnemonic{"set_autocast", true, false, false, A::kParenthesised},
    Mnemonic{"set_default_dtype", false, false, false, A::kBare, 1},
    Mnemonic{"save_state", false, false, false, A::kNone},
    Mnemonic{"restore_state", false, false, false, A::kBare, 1},
    Mnemonic{"discard", false, false, false, A::kBare, 1},
    Mnemonic{"assume", false, false, false, A::kBare, 1},
    Mnemonic{"sink", true, false, false, A::kParenthesised},
    Mnemonic{"jump", false, false, false, A::kNone},
    Mnemonic{"branch", false, false, false, A::kBare, 1},
    Mnemonic{"return", false, false, false, A::kBare},
    Mnemonic{"unreachable", false, false, false, A::kNone},
};
}  // namespace mnemonic_detail

inline constexpr const auto& kMnemonics = mnemonic_detail::kRows;
inline constexpr const Mnemonic& mnemonic(Op op) { return kMnemonics[static_cast<std::size_t>(op)]; }
static_assert(kMnemonics.size() == static_cast<std::size_t>(Op::kUnreachable) + 1);
static_assert(mnemonic(Op::kBranch).word == "branch" && mnemonic(Op::kLoad).word == "load");

inline constexpr std::array<std::string_view, 5> kFunctionKinds = {"function", "method", "constructor",
                                                                   "destructor", "lambda"};
inline constexpr std::array<std::string_view, 8> kParameterKinds = {
    "tensor", "optional_tensor", "tensor_list", "dtype", "options", "number", "object", "other"};

constexpr std::string_view spelling(Written written) {
  switch (written) {
    case Written::kTensor:
      return "tensor";
    case Written::kBound:
      return "bound";
    case Written::kMacro:
      return "macro";
    default:
      return "";
  }
}

// Letters, digits, '_' and '$', with "::" between parts; everything else is printed in quotes.
constexpr bool is_word_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}
constexpr bool is_word_part(char c) { return is_word_start(c) || (c >= '0' && c <= '9'); }
// Length of the word that `text` begins with; 0 when it begins with none.
constexpr std::size_t word_length(std::string_view text) {
  if (text.empty() || !is_word_start(text[0])) return 0;
  std::size_t end = 1;
  while (end < text.size()) {
    if (is_word_part(text[end])) {
      ++end;
    } else if (text.substr(end, 2) == "::" && end + 2 < text.size() && is_word_start(text[end + 2])) {
      end += 3;
    } else {
      break;
    }
  }
  return end;
}

}  // namespace dtype_guard::flow
