// Reads tensors out of a record at the offsets that the probe has found. Called within the record's callbacks
// alone, while the operands of the start and the results of the end are alive, so nothing is checked again.
#pragma once

#include <cstring>

#include "sanitizer/sources/torch/abi.h"
#include "sanitizer/sources/torch/layout.h"
#include "sanitizer/sources/torch/scalar_types.h"

namespace dtype_guard::san::torch {

inline constinit Layout layout = {};

template <typename T>
[[gnu::always_inline]] inline T read_at(const void* object, std::uint32_t offset) {
  T value;
  std::memcpy(&value, static_cast<const char*>(object) + offset, sizeof value);
  return value;
}

// What is read of a tensor; undefined ones and those without memory (meta, fake, batched) have no data.
struct TensorView {
  const TensorImpl* impl;

  ScalarType dtype() const { return read_at<ScalarType>(impl, layout.dtype); }
  bool has_float_dtype() const { return dtype() < kScalarTypeCount && kScalarTypes[dtype()].is_float; }
  std::int8_t device_type() const { return read_at<std::int8_t>(impl, layout.device); }
  std::int8_t device_index() const { return read_at<std::int8_t>(impl, layout.device + 1); }
  std::size_t dimensions() const { return read_at<std::size_t>(impl, layout.sizes); }
  const std::int64_t* sizes() const {
    if (dimensions() > kInlineSizes) return read_at<const std::int64_t*>(impl, layout.sizes + 8);
    return reinterpret_cast<const std::int64_t*>(reinterpret_cast<const char*>(impl) + layout.sizes + 8);
  }
  // Where its storage begins; views of one storage have the same.
  std::uintptr_t storage() const {
    const auto* storage = read_at<const void*>(impl, layout.storage);
    return storage != nullptr ? read_at<std::uintptr_t>(storage, layout.storage_data) : 0;
  }
};

struct Values {
  const char* first;
  std::size_t count;

  const char* at(std::size_t i) const { return first + i * kValueSize; }
};

inline bool is_tensor(const char* value) {
  return read_at<std::uint32_t>(value, kValueTag) == layout.tensor_tag;
}
inline bool is_list(const char* value) { return read_at<std::uint32_t>(value, kValueTag) == layout.list_tag; }
inline TensorView tensor_in(const char* value) { return {read_at<const TensorImpl*>(value, 0)}; }

inline Values inputs_of(const Record& record) {
  return {read_at<const char*>(&record, layout.inputs), read_at<std::size_t>(&record, layout.inputs + 8)};
}
inline Values vector_at(const void* owner, std::uint32_t offset) {
  const char* begin = read_at<const char*>(owner, offset);
  const char* end = read_at<const char*>(owner, offset + 8);
  return {begin, static_cast<std::size_t>(end - begin) / kValueSize};
}
inline Values outputs_of(const Record& record) { return vector_at(&record, layout.outputs); }
inline Values list_in(const char* value) { return vector_at(read_at<const void*>(value, 0), layout.list); }

// Visits the tensors among values and, one level down, in lists of them, until the visitor returns false.
template <typename Visitor>
[[gnu::always_inline]] inline void each_tensor(Values values, Visitor&& visit) {
  for (std::size_t i = 0; i < values.count; ++i) {
    const char* value = values.at(i);
    if (is_tensor(value)) {
      if (!visit(tensor_in(value))) return;
    } else if (is_list(value)) {
      const Values inner = list_in(value);
      for (std::size_t j = 0; j < inner.count && is_tensor(inner.at(j)); ++j)
        if (!visit(tensor_in(inner.at(j)))) return;
    }
  }
}

}  // namespace dtype_guard::san::torch
