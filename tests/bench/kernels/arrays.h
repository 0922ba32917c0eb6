// Tensors of the benchmarks: compact, aligned to 64 bytes as PyTorch's are, filled with small random numbers,
// and the DLTensor that describes them.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "flash_ref/flash_ref.h"

namespace bench {

class Memory {
 public:
  explicit Memory(std::size_t bytes = 0)
      : bytes_(bytes),
        data_(static_cast<unsigned char*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64)), &std::free) {}
  unsigned char* data() const { return data_.get(); }
  std::size_t size() const { return bytes_; }

 private:
  std::size_t bytes_;
  std::unique_ptr<unsigned char, decltype(&std::free)> data_;
};

struct Array {
  Array() = default;
  Array(std::vector<std::int64_t> the_shape, DLDataType dtype) { resize(std::move(the_shape), dtype); }

  void resize(std::vector<std::int64_t> the_shape, DLDataType dtype) {
    shape = std::move(the_shape);
    std::size_t count = 1;
    for (std::int64_t size : shape) count *= static_cast<std::size_t>(size);
    memory = Memory(count * dtype.bits / 8);
    std::memset(memory.data(), 0, memory.size());
    tensor.data = memory.data();
    tensor.device.device_type = static_cast<DLDeviceType>(1);
    tensor.ndim = static_cast<int>(shape.size());
    tensor.dtype = dtype;
    tensor.shape = shape.data();
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  // bfloat16 numbers between 1/4 and 1, of both signs.
  void fill_bfloat16(std::uint32_t seed) {
    std::mt19937 random(seed);
    auto* bits = reinterpret_cast<std::uint16_t*>(memory.data());
    for (std::size_t i = 0; i < memory.size() / 2; ++i) {
      const std::uint32_t r = static_cast<std::uint32_t>(random());
      bits[i] = static_cast<std::uint16_t>((r & 0x8000U) | 0x3e80U | (r & 0xffU));
    }
  }

  std::vector<std::int64_t> shape;
  Memory memory;
  DLTensor tensor{};
};

inline constexpr DLDataType kBFloat16{4, 16, 1}, kFloat16{2, 16, 1}, kFloat32{2, 32, 1}, kInt32{0, 32, 1};

}  // namespace bench
