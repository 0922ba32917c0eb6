// Where this PyTorch keeps what is read of a record and of a tensor: byte offsets, found at the start by the
// probe (probe.h). They differ between releases and between the two ABIs of std::string, so none is tabled.
#pragma once

#include <cstdint>

namespace dtype_guard::san::torch {

struct Layout {
  std::uint32_t inputs = 0;   // in a record: {IValue*, count}
  std::uint32_t outputs = 0;  // in a record: std::vector<IValue>
  std::uint32_t tensor_tag = 0;
  std::uint32_t list_tag = 0;
  std::uint32_t list = 0;          // in a list: std::vector<IValue>
  std::uint32_t dtype = 0;         // in a TensorImpl: uint16, a ScalarType
  std::uint32_t device = 0;        // in a TensorImpl: int8 type, int8 index, bool "there is one"
  std::uint32_t sizes = 0;         // in a TensorImpl: {count, up to five sizes or a pointer to them}
  std::uint32_t storage = 0;       // in a TensorImpl: StorageImpl*
  std::uint32_t storage_data = 0;  // in a StorageImpl: what it points to
};

// c10::IValue: a word that may be a pointer, and the tag that says what it is.
inline constexpr std::uint32_t kValueSize = 16, kValueTag = 8;
inline constexpr std::uint32_t kInlineSizes = 5;

}  // namespace dtype_guard::san::torch
