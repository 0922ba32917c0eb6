#include "rules/dtype/promotion.h"

#include <array>
#include <optional>

namespace dtype_guard {
namespace {

std::string pair_text(Dtype a, Dtype b) {
  return std::string(aten_name(a)) + " and " + std::string(aten_name(b));
}

// The lattice of the ordinary dtypes, written as PyTorch documents it: one row and column per dtype in
// kLattice.
constexpr std::array kLattice = {Dtype::kUInt8,     Dtype::kInt8,      Dtype::kInt16,      Dtype::kInt32,
                                 Dtype::kInt64,     Dtype::kFloat16,   Dtype::kFloat32,    Dtype::kFloat64,
                                 Dtype::kComplex32, Dtype::kComplex64, Dtype::kComplex128, Dtype::kBool,
                                 Dtype::kBFloat16};

constexpr auto u1 = Dtype::kUInt8;
constexpr auto i1 = Dtype::kInt8;
constexpr auto i2 = Dtype::kInt16;
constexpr auto i4 = Dtype::kInt32;
constexpr auto i8 = Dtype::kInt64;
constexpr auto f2 = Dtype::kFloat16;
constexpr auto f4 = Dtype::kFloat32;
constexpr auto f8 = Dtype::kFloat64;
constexpr auto c2 = Dtype::kComplex32;
constexpr auto c4 = Dtype::kComplex64;
constexpr auto c8 = Dtype::kComplex128;
constexpr auto b1 = Dtype::kBool;
constexpr auto bf = Dtype::kBFloat16;

constexpr Dtype kJoin[kLattice.size()][kLattice.size()] = {
    // clang-format off
    //     u1  i1  i2  i4  i8  f2  f4  f8  c2  c4  c8  b1  bf
    /*u1*/ {u1, i2, i2, i4, i8, f2, f4, f8, c2, c4, c8, u1, bf},
    /*i1*/ {i2, i1, i2, i4, i8, f2, f4, f8, c2, c4, c8, i1, bf},
    /*i2*/ {i2, i2, i2, i4, i8, f2, f4, f8, c2, c4, c8, i2, bf},
    /*i4*/ {i4, i4, i4, i4, i8, f2, f4, f8, c2, c4, c8, i4, bf},
    /*i8*/ {i8, i8, i8, i8, i8, f2, f4, f8, c2, c4, c8, i8, bf},
    /*f2*/ {f2, f2, f2, f2, f2, f2, f4, f8, c2, c4, c8, f2, f4},
    /*f4*/ {f4, f4, f4, f4, f4, f4, f4, f8, c4, c4, c8, f4, f4},
    /*f8*/ {f8, f8, f8, f8, f8, f8, f8, f8, c8, c8, c8, f8, f8},
    /*c2*/ {c2, c2, c2, c2, c2, c2, c4, c8, c2, c4, c8, c2, c4},
    /*c4*/ {c4, c4, c4, c4, c4, c4, c4, c8, c4, c4, c8, c4, c4},
    /*c8*/ {c8, c8, c8, c8, c8, c8, c8, c8, c8, c8, c8, c8, c8},
    /*b1*/ {u1, i1, i2, i4, i8, f2, f4, f8, c2, c4, c8, b1, bf},
    /*bf*/ {bf, bf, bf, bf, bf, f4, f4, f8, c4, c4, c8, bf, bf},
    // clang-format on
};

std::optional<std::size_t> lattice_index(Dtype dtype) {
  for (std::size_t i = 0; i < kLattice.size(); ++i) {
    if (kLattice[i] == dtype) return i;
  }
  return std::nullopt;
}

bool either(Dtype a, Dtype b, DtypeCategory wanted) { return category(a) == wanted || category(b) == wanted; }

// PyTorch answers for an unsigned shell and a float by taking the float, and for nothing else.
PromotionResult promote_shell(Dtype a, Dtype b) {
  if (is_floating(a)) return a;
  if (is_floating(b)) return b;
  return PromotionError{"Promotion for uint16, uint32, uint64 types is not supported, attempted to promote " +
                        pair_text(a, b)};
}

}  // namespace

PromotionResult promote_types(Dtype a, Dtype b) {
  if (a == Dtype::kUndefined || b == Dtype::kUndefined) return Dtype::kUndefined;
  if (a == b) return a;
  if (either(a, b, DtypeCategory::kQuantized)) {
    return PromotionError{"promoteTypes with quantized numbers is not handled yet; offending types: " +
                          pair_text(a, b)};
  }
  if (either(a, b, DtypeCategory::kBits)) return Dtype::kUndefined;
  if (either(a, b, DtypeCategory::kFloat8)) {
    return PromotionError{"Promotion for Float8 Types is not supported, attempted to promote " +
                          pair_text(a, b)};
  }
  if (either(a, b, DtypeCategory::kUnsignedShell)) return promote_shell(a, b);
  const auto row = lattice_index(a);
  const auto column = lattice_index(b);
  if (!row || !column) return PromotionError{"PyTorch knows no promotion of " + pair_text(a, b)};
  return kJoin[*row][*column];
}

namespace {

// promote_types in which an empty slot loses.
PromotionResult join(Dtype a, Dtype b) {
  if (a == Dtype::kUndefined) return b;
  if (b == Dtype::kUndefined) return a;
  return promote_types(a, b);
}

// The complex type that keeps the value type of a floating one; bfloat16 has none of its own width.
PromotionResult complex_over(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat16:
      return Dtype::kComplex32;
    case Dtype::kFloat32:
    case Dtype::kBFloat16:
      return Dtype::kComplex64;
    case Dtype::kFloat64:
      return Dtype::kComplex128;
    default:
      return PromotionError{"there is no complex type over " + std::string(aten_name(dtype))};
  }
}

PromotionResult combine(Dtype higher, Dtype lower) {
  if (is_complex(higher)) return higher;
  if (is_floating(higher)) return is_complex(lower) ? complex_over(higher) : PromotionResult(higher);
  if (is_complex(lower)) return lower;
  if (higher == Dtype::kBool || is_floating(lower)) return join(higher, lower);
  return higher != Dtype::kUndefined ? higher : lower;
}

Dtype current_dtype(const ResultTypeOperand& operand, Dtype default_dtype) {
  if (operand.rank != RankClass::kWrapped) return operand.dtype;
  if (is_complex(operand.dtype)) return std::get<Dtype>(complex_over(default_dtype));
  if (is_floating(operand.dtype)) return default_dtype;
  return operand.dtype;
}

}  // namespace

PromotionResult result_type(std::span<const ResultTypeOperand> operands, Dtype default_dtype) {
  std::array<Dtype, 3> slots = {Dtype::kUndefined, Dtype::kUndefined, Dtype::kUndefined};
  for (const ResultTypeOperand& operand : operands) {
    if (operand.dtype == Dtype::kUndefined) continue;
    Dtype& slot = slots[static_cast<std::size_t>(operand.rank)];
    const PromotionResult joined = join(slot, current_dtype(operand, default_dtype));
    if (!std::holds_alternative<Dtype>(joined)) return joined;
    slot = std::get<Dtype>(joined);
  }
  const auto [wrapped, zero_dim, dim] = slots;
  const PromotionResult scalars = combine(zero_dim, wrapped);
  if (!std::holds_alternative<Dtype>(scalars)) return scalars;
  return combine(dim, std::get<Dtype>(scalars));
}

}  // namespace dtype_guard
