// One call of a watched API as a hook sees it, and the dtypes in it as numbers.
#pragma once

#include <dlpack/dlpack.h>

#include <cstdint>

#include "sanitizer/contracts/contract_table.h"

namespace dtype_guard::san {

struct WatchedCall {
  ApiId api;
  const DLTensor* const* operands;  // as many as the contract has
  std::uintptr_t caller;            // return address into the calling function
};

// A dtype as it lies in the descriptor, read as one word, and a contract's packed dtype in that order.
inline std::uint32_t dtype_word(const DLTensor& tensor) {
  static_assert(sizeof tensor.dtype == sizeof(std::uint32_t));
  return __builtin_bit_cast(std::uint32_t, tensor.dtype);
}
constexpr std::uint32_t as_word(std::uint32_t packed) {
  return __builtin_bit_cast(std::uint32_t, DLDataType{static_cast<std::uint8_t>(packed >> 16),
                                                      static_cast<std::uint8_t>(packed >> 8),
                                                      static_cast<std::uint16_t>(packed & 0xffU)});
}
// The packed form has eight bits for lanes; more of them are all the same to it.
inline std::uint32_t packed(DLDataType dtype) {
  std::uint32_t lanes = dtype.lanes < 255U ? dtype.lanes : 255U;
  return std::uint32_t{dtype.code} << 16 | std::uint32_t{dtype.bits} << 8 | lanes;
}
inline std::uint32_t packed_dtype(const DLTensor& tensor) { return packed(tensor.dtype); }

// Bytes that are kept as they are and read as something else on purpose.
inline bool is_raw_bytes(std::uint32_t packed) { return packed >> 16 <= 1 && (packed >> 8 & 0xffU) == 8; }

}  // namespace dtype_guard::san
