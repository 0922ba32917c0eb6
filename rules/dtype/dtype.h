// A Dtype is the element type of a tensor, buffer or number, as PyTorch counts them. The set is closed: one
// row per dtype in dtypes.inc, in the order of c10::ScalarType, and everything that depends on a dtype's
// name, width, category or spelling reads that table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace dtype_guard {

// Underlying values equal c10::ScalarType, so a number seen in a running process needs no translation.
enum class Dtype : std::uint8_t {
#define DTYPE(enumerator, name, aten, category, bits, dlpack_code, dlpack_bits, dlpack_lanes, spellings) \
  enumerator,
#include "rules/dtype/dtypes.inc"
#undef DTYPE
  kUndefined,
};

inline constexpr std::size_t kDtypeCount = static_cast<std::size_t>(Dtype::kUndefined);

// What decides promotion. kBits never takes part; kFloat8 refuses to promote with anything but itself.
enum class DtypeCategory : std::uint8_t {
  kBool,
  kInteger,
  kUnsignedShell,  // uint16, uint32, uint64, uint1 to uint7: storage; promotion with all but floats throws
  kSignedShell,    // int1 to int7: promotion with any other dtype throws
  kFloating,
  kFloat8,  // all 8-bit floats
  kFloat4,  // the packed 4-bit one: promotes with unsigned shells only
  kComplex,
  kQuantized,
  kBits,
  kUndefined,
};

// DLPack's three numbers; code as in dlpack.h (kDLFloat is 2, kDLBfloat is 4).
struct DlpackType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
  friend bool operator==(const DlpackType&, const DlpackType&) = default;
};

// PyTorch's name without "torch.", e.g. "bfloat16"; "undefined" for kUndefined.
std::string_view name(Dtype dtype);
// The ATen enumerator, e.g. "BFloat16" (at::kBFloat16, at::ScalarType::BFloat16).
std::string_view aten_name(Dtype dtype);
DtypeCategory category(Dtype dtype);
// Size of one element in bits; sub-byte types report their true width.
unsigned bits(Dtype dtype);

// Floating in PyTorch's sense: float8 and float4 count, complex does not.
bool is_floating(Dtype dtype);
bool is_complex(Dtype dtype);
bool is_integral(Dtype dtype);  // bool does not count
// float16 or bfloat16: what flash kernels take and what this project calls half.
bool is_half(Dtype dtype);

// Nothing when DLPack has no such type (quantized, bits).
std::optional<DlpackType> to_dlpack(Dtype dtype);
std::optional<Dtype> from_dlpack(DlpackType type);

// Any spelling that the table lists: "bfloat16", "torch.bfloat16", "at::kBFloat16", "torch::kBFloat16",
// "BFloat16", "at::BFloat16", "c10::BFloat16", "__nv_bfloat16", "nv_bfloat16", "__bf16",
// "cutlass::bfloat16_t", "bf16", ...
std::optional<Dtype> parse_dtype(std::string_view spelling);

// Every dtype in table order.
const std::array<Dtype, kDtypeCount>& all_dtypes();

}  // namespace dtype_guard
