#include "kernels/launch/tensor.h"

#include <algorithm>
#include <cinttypes>

#include "kernels/cuda/backend.h"

namespace flash_ref {
namespace {

int read_sizes(const Call& call, const DLTensor& source, Shape shape, Tensor& tensor) {
  if (source.ndim != shape.rank) {
    return call.fail(FLASH_REF_BAD_SHAPE, "%s has %d dimensions; expected %d: %s", tensor.role,
                     static_cast<int>(source.ndim), shape.rank, shape.sizes);
  }
  if (source.shape == nullptr) {
    return call.fail(FLASH_REF_NULL_ARGUMENT, "%s has a NULL shape; expected %s", tensor.role, shape.sizes);
  }
  tensor.rank = shape.rank;
  tensor.elements = 1;
  std::int64_t product = 1;  // of the sizes that are not 0, so that sizes can be multiplied freely later
  for (int i = 0; i < shape.rank; ++i) {
    tensor.sizes[i] = source.shape[i];
    const bool negative = tensor.sizes[i] < 0;
    if (negative || __builtin_mul_overflow(product, std::max<std::int64_t>(tensor.sizes[i], 1), &product) ||
        product > kMostElements) {
      return call.fail(FLASH_REF_BAD_SHAPE, "%s has shape %s; %s", tensor.role,
                       TupleText(source.shape, shape.rank).c_str(),
                       negative ? "sizes cannot be negative" : "their product can be 2^48 at most");
    }
    tensor.elements *= tensor.sizes[i];
  }
  return FLASH_REF_OK;
}

// Also finds the range of addresses; false if it does not fit into an address space.
bool read_strides(const DLTensor& source, Tensor& tensor) {
  std::int64_t compact = 1;
  for (int i = tensor.rank - 1; i >= 0; --i) {
    const std::int64_t stride = source.strides != nullptr ? source.strides[i] : compact;
    compact *= std::max<std::int64_t>(tensor.sizes[i], 1);
    tensor.strides[i] = tensor.empty() || tensor.sizes[i] <= 1 ? 0 : stride;
    std::int64_t reach = 0;
    std::int64_t& end = tensor.strides[i] < 0 ? tensor.lowest : tensor.highest;
    if (__builtin_mul_overflow(tensor.strides[i], std::max<std::int64_t>(tensor.sizes[i], 1) - 1, &reach) ||
        __builtin_add_overflow(end, reach, &end)) {
      return false;
    }
  }
  constexpr std::int64_t kLimit = std::int64_t{1} << 56;
  return tensor.lowest > -kLimit && tensor.highest < kLimit;
}

int read_data(const Call& call, const DLTensor& source, bool needs_data, Tensor& tensor) {
  if (tensor.empty() || !needs_data) return FLASH_REF_OK;
  if (source.data == nullptr) {
    return call.fail(FLASH_REF_NULL_ARGUMENT, "%s has NULL data and shape %s", tensor.role,
                     TupleText(tensor.sizes, tensor.rank).c_str());
  }
  const auto address = reinterpret_cast<std::uintptr_t>(source.data) + source.byte_offset;
  if (address % static_cast<std::uintptr_t>(tensor.element_bytes) != 0) {
    return call.fail(FLASH_REF_BAD_LAYOUT,
                     "%s has data at %p with byte_offset %" PRIu64 "; expected a multiple of %" PRId64
                     " bytes",
                     tensor.role, source.data, source.byte_offset, tensor.element_bytes);
  }
  tensor.data = reinterpret_cast<char*>(address);
  return FLASH_REF_OK;
}

std::int64_t magnitude(std::int64_t value) { return value < 0 ? -value : value; }

}  // namespace

int read_tensor(const Call& call, const char* role, const DLTensor& source, Shape shape, bool needs_data,
                Tensor& tensor) {
  tensor = Tensor{};
  tensor.role = role;
  tensor.element_bytes = source.dtype.bits / 8;
  const int device = static_cast<int>(source.device.device_type);
  const int id = static_cast<int>(source.device.device_id);
  if (int status = call.check_device(role, device, id, cuda::built())) return status;
  if (int status = read_sizes(call, source, shape, tensor)) return status;
  if (!read_strides(source, tensor)) {
    return call.fail(FLASH_REF_BAD_LAYOUT,
                     "%s has shape %s and strides %s, which reach beyond the address space", role,
                     TupleText(source.shape, shape.rank).c_str(),
                     source.strides != nullptr ? TupleText(source.strides, shape.rank).c_str() : "NULL");
  }
  return read_data(call, source, needs_data, tensor);
}

int check_sizes(const Call& call, const Tensor& tensor, const std::int64_t* expected, const char* reason) {
  if (std::equal(expected, expected + tensor.rank, tensor.sizes)) return FLASH_REF_OK;
  return call.fail(FLASH_REF_BAD_SHAPE, "%s has shape %s; expected %s %s", tensor.role,
                   TupleText(tensor.sizes, tensor.rank).c_str(), TupleText(expected, tensor.rank).c_str(),
                   reason);
}

int check_own_memory(const Call& call, const Tensor& tensor) {
  for (int i = 0; i < tensor.rank && !tensor.empty(); ++i) {
    if (tensor.sizes[i] <= 1) continue;
    std::int64_t reach = 0;  // of the dimensions that lie within one step of this one
    for (int j = 0; j < tensor.rank; ++j) {
      const bool within = j != i && magnitude(tensor.strides[j]) <= magnitude(tensor.strides[i]);
      if (within) reach += (tensor.sizes[j] - 1) * magnitude(tensor.strides[j]);
    }
    if (magnitude(tensor.strides[i]) > reach) continue;
    return call.fail(FLASH_REF_BAD_LAYOUT,
                     "%s has shape %s and strides %s; elements of an output must not share memory",
                     tensor.role, TupleText(tensor.sizes, tensor.rank).c_str(),
                     TupleText(tensor.strides, tensor.rank).c_str());
  }
  return FLASH_REF_OK;
}

bool same_place(const Tensor& a, const Tensor& b) {
  return a.data == b.data && std::equal(a.strides, a.strides + kMaxRank, b.strides);
}

}  // namespace flash_ref
