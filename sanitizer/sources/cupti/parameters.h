// Where known kernels keep the pointers of their operands (parameters.inc). Found by parts of the mangled
// name, without demangling: this is asked in the watched process at the first launch of each kernel, and the
// report asks names/kernel_name.h whether the kernel is what it looks like.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dtype_guard::san::cupti {

class Arguments;

struct Place {
  std::uint8_t parameter;
  std::uint8_t offset;
};

inline constexpr std::size_t kInputs = 3;  // q, k, v
inline constexpr const char* kInputRoles[kInputs] = {"q", "k", "v"};

struct KernelParameters {
  const char* kernel;
  const char* mentions;
  bool is_cast;
  Place places[kInputs];  // of a cast: out, x
  std::uint8_t elements, element_size;
  std::int8_t loader, storer;
};

// The row + 1; 0: no row fits.
std::uint32_t find_parameters(std::string_view mangled);
// Of a row + 1; nullptr for 0.
const KernelParameters* parameters(std::uint32_t row);

// A cast as its arguments have it.
struct CastArguments {
  std::uint64_t out = 0;
  std::uint64_t elements = 0;
  std::uint32_t element_size = 0;  // of out
  std::uint32_t x_type = 0;        // at::ScalarType + 1; 0: as the kernel's name says
  std::uint32_t out_type = 0;
};
// False when the arguments do not look like the row's kernel.
bool read_cast(const KernelParameters& row, const Arguments& arguments, CastArguments& cast);

// The pointers of q, k and v; false likewise.
bool read_inputs(const KernelParameters& row, const Arguments& arguments, std::uint64_t (&inputs)[kInputs]);

}  // namespace dtype_guard::san::cupti
