#include "rules/dtype/dtype.h"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace dtype_guard {
namespace {

struct Row {
  std::string_view name;
  std::string_view aten;
  DtypeCategory category;
  unsigned bits;
  DlpackType dlpack;  // lanes 0: none
  std::string_view spellings;
};

constexpr DtypeCategory kBool = DtypeCategory::kBool;
constexpr DtypeCategory kInteger = DtypeCategory::kInteger;
constexpr DtypeCategory kUnsignedShell = DtypeCategory::kUnsignedShell;
constexpr DtypeCategory kSignedShell = DtypeCategory::kSignedShell;
constexpr DtypeCategory kFloating = DtypeCategory::kFloating;
constexpr DtypeCategory kFloat8 = DtypeCategory::kFloat8;
constexpr DtypeCategory kFloat4 = DtypeCategory::kFloat4;
constexpr DtypeCategory kComplex = DtypeCategory::kComplex;
constexpr DtypeCategory kQuantized = DtypeCategory::kQuantized;
constexpr DtypeCategory kBits = DtypeCategory::kBits;

constexpr std::array<Row, kDtypeCount + 1> kRows = {{
#define DTYPE(enumerator, name, aten, category, bits, code, dlpack_bits, lanes, spellings) \
  {name, aten, category, bits, {code, dlpack_bits, lanes}, spellings},
#include "rules/dtype/dtypes.inc"
#undef DTYPE
    {"undefined", "Undefined", DtypeCategory::kUndefined, 0, {0, 0, 0}, ""},
}};

const Row& row(Dtype dtype) { return kRows[std::min(static_cast<std::size_t>(dtype), kDtypeCount)]; }

using SpellingTable = std::unordered_map<std::string, Dtype>;

void add_derived_spellings(SpellingTable& table, Dtype dtype) {
  const std::string torch_name(name(dtype));
  const std::string aten(aten_name(dtype));
  table.emplace(torch_name, dtype);
  table.emplace("torch." + torch_name, dtype);
  table.emplace(aten, dtype);
  table.emplace("k" + aten, dtype);
  for (std::string space : {"at::", "c10::", "torch::", "torch::headeronly::"}) {
    table.emplace(space + "k" + aten, dtype);
    table.emplace(space + "ScalarType::" + aten, dtype);
  }
  table.emplace("ScalarType::" + aten, dtype);
}

void add_own_spellings(SpellingTable& table, Dtype dtype) {
  std::string_view rest = row(dtype).spellings;
  while (!rest.empty()) {
    const std::size_t bar = rest.find('|');
    table.emplace(std::string(rest.substr(0, bar)), dtype);
    rest = bar == std::string_view::npos ? std::string_view{} : rest.substr(bar + 1);
  }
}

const SpellingTable& spelling_table() {
  static const SpellingTable table = [] {
    SpellingTable made;
    for (Dtype dtype : all_dtypes()) {
      add_derived_spellings(made, dtype);
      add_own_spellings(made, dtype);
    }
    return made;
  }();
  return table;
}

bool drop_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// "  const ::c10::Half " and "c10::Half" are one type; qualifiers never change a dtype.
std::string_view bare_spelling(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\n'; };
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  for (bool dropped = true; dropped;) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    dropped = drop_prefix(text, "const ") || drop_prefix(text, "volatile ") || drop_prefix(text, "::");
  }
  return text;
}

}  // namespace

std::string_view name(Dtype dtype) { return row(dtype).name; }
std::string_view aten_name(Dtype dtype) { return row(dtype).aten; }
DtypeCategory category(Dtype dtype) { return row(dtype).category; }
unsigned bits(Dtype dtype) { return row(dtype).bits; }

bool is_floating(Dtype dtype) {
  const DtypeCategory c = category(dtype);
  return c == kFloating || c == kFloat8 || c == kFloat4;
}
bool is_complex(Dtype dtype) { return category(dtype) == kComplex; }
bool is_integral(Dtype dtype) {
  const DtypeCategory c = category(dtype);
  return c == kInteger || c == kUnsignedShell || c == kSignedShell;
}
bool is_half(Dtype dtype) { return dtype == Dtype::kFloat16 || dtype == Dtype::kBFloat16; }

std::optional<DlpackType> to_dlpack(Dtype dtype) {
  const DlpackType type = row(dtype).dlpack;
  if (type.lanes == 0) return std::nullopt;
  return type;
}

std::optional<Dtype> from_dlpack(DlpackType type) {
  if (type.lanes == 0) return std::nullopt;
  for (Dtype dtype : all_dtypes()) {
    if (row(dtype).dlpack == type) return dtype;
  }
  return std::nullopt;
}

std::optional<Dtype> parse_dtype(std::string_view spelling) {
  const SpellingTable& table = spelling_table();
  const auto found = table.find(std::string(bare_spelling(spelling)));
  if (found == table.end()) return std::nullopt;
  return found->second;
}

const std::array<Dtype, kDtypeCount>& all_dtypes() {
  static constexpr std::array<Dtype, kDtypeCount> dtypes = [] {
    std::array<Dtype, kDtypeCount> made{};
    for (std::size_t i = 0; i < kDtypeCount; ++i) made[i] = static_cast<Dtype>(i);
    return made;
  }();
  return dtypes;
}

}  // namespace dtype_guard
