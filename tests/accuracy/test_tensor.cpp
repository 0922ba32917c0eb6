#include "tests/accuracy/test_tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <sstream>

#ifdef FLASH_REF_EMULATED
#include "tests/emulated/block.h"
#endif

namespace flash_ref_test {
namespace {

using flash_ref::reference::decode;
using flash_ref::reference::encode;
using flash_ref::reference::round_to;
using flash_ref::reference::ulp;

constexpr std::uint8_t kGuard = 0xa5;
constexpr std::int64_t kGuardElements = 32;

std::vector<std::int64_t> strides_for(const std::vector<std::int64_t>& shape, Layout layout) {
  std::vector<int> order(shape.size());  // innermost first
  for (std::size_t i = 0; i < shape.size(); ++i) order[i] = static_cast<int>(shape.size() - 1 - i);
  if (layout == Layout::kPermuted && shape.size() > 2)
    std::swap(order[shape.size() - 2], order[shape.size() - 3]);
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = layout == Layout::kScattered ? 3 : 1;
  for (int i : order) {
    strides[static_cast<std::size_t>(i)] = stride;
    stride *= std::max<std::int64_t>(shape[static_cast<std::size_t>(i)], 1);
    if (layout == Layout::kPadded) stride += 5;
  }
  if (layout == Layout::kBackward && shape.size() > 1) strides[1] = -strides[1];
  return strides;
}

// Of each element in logical order, in bytes; the first one lies `start` elements behind the beginning.
std::vector<std::size_t> offsets_of(const std::vector<std::int64_t>& shape,
                                    const std::vector<std::int64_t>& strides, std::int64_t start,
                                    std::int64_t bytes, std::int64_t count) {
  std::vector<std::size_t> offsets(static_cast<std::size_t>(count));
  std::vector<std::int64_t> place(shape.size());
  std::int64_t offset = start;
  for (std::size_t& result : offsets) {
    result = static_cast<std::size_t>(offset * bytes);
    for (std::size_t i = shape.size(); i-- > 0;) {
      offset += strides[i];
      if (++place[i] < shape[i]) break;
      offset -= shape[i] * strides[i];
      place[i] = 0;
    }
  }
  return offsets;
}

// Little-endian; of a known size each, since these are the steps that all tests repeat.
void copy_element(TestDtype dtype, void* to, const void* from) {
  switch (dtype.dlpack.bits) {
    case 8:
      std::memcpy(to, from, 1);
      return;
    case 16:
      std::memcpy(to, from, 2);
      return;
    default:
      std::memcpy(to, from, 4);
  }
}

// Normally distributed numbers to draw from: an index costs less than a logarithm.
std::vector<double> normal_numbers() {
  std::mt19937 random(20261121);
  std::normal_distribution<double> normal;
  std::vector<double> numbers(1 << 16);
  for (double& number : numbers) number = normal(random);
  return numbers;
}

}  // namespace

TestTensor::TestTensor(std::vector<std::int64_t> shape, TestDtype dtype, Layout layout)
    : dtype_(dtype), shape_(std::move(shape)), strides_(strides_for(shape_, layout)) {
  std::int64_t lowest = 0, highest = 0, count = 1;
  for (std::size_t i = 0; i < shape_.size(); ++i) {
    const std::int64_t reach = strides_[i] * std::max<std::int64_t>(shape_[i] - 1, 0);
    (reach < 0 ? lowest : highest) += reach;
    count *= shape_[i];
  }
  const std::int64_t bytes = dtype.dlpack.bits / 8, start = kGuardElements - lowest;
  memory_.assign(static_cast<std::size_t>((start + highest + 1 + kGuardElements) * bytes), kGuard);
  offsets_ = offsets_of(shape_, strides_, start, bytes, count);
  // Half of the way to the first element is byte_offset, where there is one.
  const std::int64_t skipped = layout == Layout::kCompact ? 0 : start / 2 * bytes;
  tensor_.data = count == 0 ? nullptr : memory_.data() + (start * bytes - skipped);
  tensor_.byte_offset = static_cast<std::uint64_t>(skipped);
  tensor_.device = {static_cast<DLDeviceType>(kDevice), 0};
  tensor_.ndim = static_cast<int>(shape_.size());
  tensor_.dtype = dtype.dlpack;
  tensor_.shape = shape_.data();
  tensor_.strides = layout == Layout::kCompact ? nullptr : strides_.data();
#ifdef FLASH_REF_EMULATED
  flash_ref_emulated::allow_memory(memory_.data() + (start + lowest) * bytes,
                                   static_cast<std::size_t>(count == 0 ? 0 : (highest - lowest + 1) * bytes));
  element_ = memory_.data() + (start + lowest) * bytes;
#endif
}

TestTensor::~TestTensor() {
  wait_for_device();
#ifdef FLASH_REF_EMULATED
  flash_ref_emulated::forbid_memory(element_);
#endif
}

void TestTensor::set_bits(std::size_t index, std::uint32_t bits) {
  wait_for_device();
  copy_element(dtype_, &memory_[offsets_[index]], &bits);
}

std::uint32_t TestTensor::bits(std::size_t index) const {
  wait_for_device();
  std::uint32_t bits = 0;
  copy_element(dtype_, &bits, &memory_[offsets_[index]]);
  return bits;
}

void TestTensor::set(const std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) set_bits(i, encode(dtype_.format, values[i]));
}

double TestTensor::value(std::size_t index) const { return decode(dtype_.format, bits(index)); }

std::vector<double> TestTensor::values() const {
  std::vector<double> result(size());
  for (std::size_t i = 0; i < size(); ++i) result[i] = value(i);
  return result;
}

std::vector<std::uint32_t> TestTensor::all_bits() const {
  std::vector<std::uint32_t> result(size());
  for (std::size_t i = 0; i < size(); ++i) result[i] = bits(i);
  return result;
}

bool TestTensor::guards_intact() const {
  std::vector<std::uint8_t> rest(memory().begin(), memory().end());
  for (std::size_t offset : offsets_) std::memset(&rest[offset], kGuard, dtype_.dlpack.bits / 8);
  return std::all_of(rest.begin(), rest.end(), [](std::uint8_t byte) { return byte == kGuard; });
}

std::vector<double> random_values(std::mt19937& random, std::size_t count, TestDtype dtype, double spread) {
  std::vector<double> values(count);
  static const std::vector<double> numbers = normal_numbers();
  for (double& value : values) value = round_to(dtype.format, spread * numbers[random() % numbers.size()]);
  return values;
}

std::string judge(const std::vector<double>& actual, const std::vector<double>& exact,
                  const std::vector<double>& naive, TestDtype dtype) {
  double largest = 0, error = 0, naive_error = 0, sum = 0, naive_sum = 0;
  std::ostringstream problem;
  if (actual.size() != exact.size()) return "sizes differ";
  for (std::size_t i = 0; i < exact.size(); ++i) {
    if (!std::isfinite(actual[i])) return "element " + std::to_string(i) + " is not finite";
    largest = std::max(largest, std::abs(exact[i]));
    error = std::max(error, std::abs(actual[i] - exact[i]));
    naive_error = std::max(naive_error, std::abs(naive[i] - exact[i]));
    sum += std::abs(actual[i] - exact[i]);
    naive_sum += std::abs(naive[i] - exact[i]);
  }
  const double slack = 2 * ulp(dtype.format, largest);
  const auto count = static_cast<double>(std::max<std::size_t>(exact.size(), 1));
  if (error > 2 * naive_error + slack) {
    problem << "max error " << error << ", naive " << naive_error << ", slack " << slack << "; ";
  }
  if (sum > 1.5 * naive_sum) {
    problem << "mean error " << sum / count << ", naive " << naive_sum / count << "; ";
  }
  return problem.str();
}

std::string judge_lse(const std::vector<double>& actual, const std::vector<double>& exact) {
  if (actual.size() != exact.size()) return "sizes of lse differ";
  for (std::size_t i = 0; i < exact.size(); ++i) {
    if (actual[i] == exact[i]) continue;
    if (std::abs(actual[i] - exact[i]) <= 1e-5 + 1e-5 * std::abs(exact[i])) continue;
    std::ostringstream text;
    text << "lse[" << i << "] is " << actual[i] << ", expected " << exact[i] << "; ";
    return text.str();
  }
  return "";
}

}  // namespace flash_ref_test
