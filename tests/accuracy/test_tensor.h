// A TestTensor is a DLTensor in memory of its own, between guard bands: every byte that is no element has a
// known value, so a store beside the tensor is seen, whatever its strides.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "flash_ref/flash_ref.h"
#include "kernels/reference/number_format.h"
#ifdef FLASH_REF_GPU
#include "tests/accuracy/shared_memory.h"
#endif

namespace flash_ref_test {

// Where tensors lie, in DLPack's numbers. The whole suite is also compiled for emulated CUDA devices, and for
// real ones with memory that both sides see.
#if defined(FLASH_REF_EMULATED) || defined(FLASH_REF_GPU)
inline constexpr int kDevice = 2;
#else
inline constexpr int kDevice = 1;
#endif
#ifdef FLASH_REF_GPU
using TensorMemory = std::vector<std::uint8_t, SharedAllocator<std::uint8_t>>;
#else
using TensorMemory = std::vector<std::uint8_t>;
inline void wait_for_device() {}
inline void device_gets_tensor() {}
#endif

struct TestDtype {
  const char* name;
  DLDataType dlpack;
  flash_ref::reference::NumberFormat format;
};

inline constexpr TestDtype kFloat16{"float16", {2, 16, 1}, flash_ref::reference::kFloat16};
inline constexpr TestDtype kBFloat16{"bfloat16", {4, 16, 1}, flash_ref::reference::kBFloat16};
inline constexpr TestDtype kFloat32{"float32", {2, 32, 1}, flash_ref::reference::kFloat32};
// For set_bits and bits only: their numbers are no floating-point numbers.
inline constexpr TestDtype kInt32{"int32", {0, 32, 1}, flash_ref::reference::kFloat32};
inline constexpr TestDtype kBool{"bool", {6, 8, 1}, flash_ref::reference::kFloat32};

enum class Layout {
  kCompact,    // strides are NULL, byte_offset 0
  kPadded,     // row-major with gaps between rows and a byte_offset
  kPermuted,   // dimensions 1 and 2 swapped in memory, as a transposed view has them
  kScattered,  // the innermost dimension has stride 3
  kBackward,   // negative stride in dimension 1
};
inline constexpr Layout kLayouts[] = {Layout::kCompact, Layout::kPadded, Layout::kPermuted,
                                      Layout::kScattered, Layout::kBackward};

class TestTensor {
 public:
  TestTensor(std::vector<std::int64_t> shape, TestDtype dtype, Layout layout = Layout::kCompact);

  // In logical order, whatever the strides. set() rounds to the dtype.
  void set(const std::vector<double>& values);
  std::vector<double> values() const;
  double value(std::size_t index) const;
  void set_bits(std::size_t index, std::uint32_t bits);
  std::uint32_t bits(std::size_t index) const;
  std::vector<std::uint32_t> all_bits() const;

  std::size_t size() const { return offsets_.size(); }
  bool guards_intact() const;
  // The whole memory, guards included: to see that nothing was written.
  const TensorMemory& memory() const {
    wait_for_device();
    return memory_;
  }

  DLTensor* operator&() {
    device_gets_tensor();
    return &tensor_;
  }
  const DLTensor* descriptor() const {
    device_gets_tensor();
    return &tensor_;
  }
  DLTensor tensor() const {
    device_gets_tensor();
    return tensor_;
  }

  ~TestTensor();
  TestTensor(const TestTensor&) = delete;
  TestTensor& operator=(const TestTensor&) = delete;

 private:
  TestDtype dtype_;
  std::vector<std::int64_t> shape_, strides_;
  std::vector<std::size_t> offsets_;  // of each element, in bytes from the start of memory_
  TensorMemory memory_;
  DLTensor tensor_{};
  const std::uint8_t* element_ = nullptr;  // the first one in memory
};

// For a call on a device, which allocates nothing: gives `options` the workspace that ask(&bytes) says, to be
// kept during the call. On CPU the library allocates.
template <class Options, class Ask>
std::unique_ptr<TestTensor> device_workspace(Options& options, const Ask& ask) {
  if (kDevice == 1 || options.workspace != nullptr) return nullptr;
  std::size_t bytes = 0;
  if (ask(&bytes) != FLASH_REF_OK || bytes == 0) return nullptr;
  auto memory = std::make_unique<TestTensor>(std::vector{static_cast<std::int64_t>(bytes)}, kBool);
  options.workspace = memory->tensor().data;
  options.workspace_bytes = bytes;
  return memory;
}

// Normally distributed numbers, rounded to `dtype`.
std::vector<double> random_values(std::mt19937& random, std::size_t count, TestDtype dtype,
                                  double spread = 1.0);

// The rule: max error <= 2 times that of the naive computation + 2 ulp of the output, mean error <= 1.5
// times. Returns "" or both errors in words.
std::string judge(const std::vector<double>& actual, const std::vector<double>& exact,
                  const std::vector<double>& naive, TestDtype dtype);

// lse: 1e-5, absolute plus relative; rows without keys are -infinity on both sides.
std::string judge_lse(const std::vector<double>& actual, const std::vector<double>& exact);

}  // namespace flash_ref_test
