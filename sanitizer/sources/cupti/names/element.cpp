#include "sanitizer/sources/cupti/names/element.h"

#include <cstddef>

#include "rules/dtype/dtype.h"

namespace dtype_guard::san::cupti {

namespace {

using enum DtypeCategory;

struct Element {
  std::string_view name;
  std::string_view spellings;
  bool floating;
  std::uint32_t packed;
};

constexpr Element kElements[] = {
#define DTYPE(enumerator, name, aten, category, bits, code, dlpack_bits, lanes, spellings) \
  {name, spellings, (category) == kFloating || (category) == kFloat8,                      \
   (lanes) == 0 ? 0U : (code) << 16 | (dlpack_bits) << 8 | (lanes)},
#include "rules/dtype/dtypes.inc"
#undef DTYPE
};

bool is_listed(std::string_view spellings, std::string_view wanted) {
  while (!spellings.empty()) {
    const std::size_t end = spellings.find('|');
    if (spellings.substr(0, end) == wanted) return true;
    spellings.remove_prefix(end == std::string_view::npos ? spellings.size() : end + 1);
  }
  return false;
}

bool strip_suffix(std::string_view& text, std::string_view suffix) {
  if (text.size() < suffix.size() || text.substr(text.size() - suffix.size()) != suffix) return false;
  text.remove_suffix(suffix.size());
  return true;
}

std::string_view without_qualifiers(std::string_view type) {
  constexpr std::string_view kConst = "const ";
  if (type.substr(0, kConst.size()) == kConst) type.remove_prefix(kConst.size());
  while (strip_suffix(type, "*") || strip_suffix(type, "&") || strip_suffix(type, " ") ||
         strip_suffix(type, " const") || strip_suffix(type, " __restrict")) {
  }
  return type;
}

}  // namespace

std::uint32_t element_of_type(std::string_view type) { return element_of_token(without_qualifiers(type)); }

std::uint32_t element_of_token(std::string_view token) {
  if (token.empty()) return 0;
  for (const Element& element : kElements) {
    if (element.floating && (token == element.name || is_listed(element.spellings, token)))
      return element.packed;
  }
  return 0;
}

}  // namespace dtype_guard::san::cupti
