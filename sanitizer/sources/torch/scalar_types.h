// c10::ScalarType, the number that a tensor keeps as its dtype, as DLPack's three numbers: from the one table
// of dtypes, which is in that order.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dtype_guard::san::torch {

using ScalarType = std::uint16_t;

struct ScalarTypeFacts {
  std::uint32_t packed;  // code << 16 | bits << 8 | lanes; 0 where DLPack has no such type
  std::uint8_t bits;
  bool is_float;  // a real floating dtype
};

namespace categories {
enum Category : std::uint8_t {
  kBool,
  kInteger,
  kUnsignedShell,
  kSignedShell,
  kFloating,
  kFloat8,
  kFloat4,
  kComplex,
  kQuantized,
  kBits,
};
}  // namespace categories

inline constexpr ScalarTypeFacts kScalarTypes[] = {
#define DTYPE(enumerator, name, aten, category, bits, code, dlpack_bits, lanes, spellings)         \
  {(lanes) != 0 ? std::uint32_t{code} << 16 | std::uint32_t{dlpack_bits} << 8 | (lanes) : 0, bits, \
   categories::category == categories::kFloating || categories::category == categories::kFloat8},
#include "rules/dtype/dtypes.inc"
#undef DTYPE
};
inline constexpr std::size_t kScalarTypeCount = sizeof kScalarTypes / sizeof kScalarTypes[0];

inline constexpr ScalarType kByte = 0, kLong = 4, kHalf = 5, kFloat = 6, kDouble = 7, kBFloat16 = 15;

}  // namespace dtype_guard::san::torch
