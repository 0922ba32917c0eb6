// Type promotion as PyTorch defines it. Operands fall into three rank classes; within a class promote_types
// joins them, and between classes the higher one wins unless the lower one is of a higher category: that is
// why a float32 parameter of one dimension widens a half tensor and a 0-dim float32 tensor does not. Source:
// c10/core/ScalarType.cpp (promoteTypes), aten/src/ATen/native/TypeProperties.cpp (result_type).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "rules/dtype/dtype.h"

namespace dtype_guard {

// Why PyTorch would throw instead of promoting, in its own terms.
struct PromotionError {
  std::string reason;
  friend bool operator==(const PromotionError&, const PromotionError&) = default;
};
using PromotionResult = std::variant<Dtype, PromotionError>;

PromotionResult promote_types(Dtype a, Dtype b);

enum class RankClass : std::uint8_t {
  kWrapped,  // a number: python scalar, c10::Scalar, C++ literal
  kZeroDim,  // a tensor with dim() == 0
  kDim,      // a tensor with dim() >= 1
};

struct ResultTypeOperand {
  Dtype dtype;
  RankClass rank;
};

// default_dtype replaces the dtype of a wrapped floating number (torch.get_default_dtype()); a wrapped
// complex number becomes the complex type of the same width.
PromotionResult result_type(std::span<const ResultTypeOperand> operands,
                            Dtype default_dtype = Dtype::kFloat32);

}  // namespace dtype_guard
