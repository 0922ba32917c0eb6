// PyTorch's name of a packed dtype, from the one dtype table, without a static constructor; empty when
// DLPack's three numbers name no dtype.
#pragma once

#include <cstdint>
#include <string_view>

namespace dtype_guard::san {

inline std::string_view dtype_name(std::uint32_t packed) {
#define DTYPE(enumerator, name, aten, category, bits, code, dlpack_bits, lanes, spellings) \
  if ((lanes) != 0 && packed == ((code) << 16 | (dlpack_bits) << 8 | (lanes))) return name;
#include "rules/dtype/dtypes.inc"
#undef DTYPE
  return {};
}

}  // namespace dtype_guard::san
