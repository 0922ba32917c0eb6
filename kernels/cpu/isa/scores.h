// From products of queries and keys to scores: softcap, then what is taken off by ALiBi and added by a mask.
// All of it in base 2, that is times log2(e).
#pragma once

#include "kernels/cpu/isa/convert.h"
#include "kernels/cpu/isa/exponential.h"
#include "kernels/cpu/isa/score.h"

namespace flash_ref::cpu::FLASH_REF_ISA {

// What a product is multiplied by: with a cap it enters tanh, else log2(e) is part of the factor.
FLASH_REF_INLINE float product_factor(const AttentionPiece& piece) {
  return piece.softcap == 0 ? piece.scale * kLog2E : piece.scale / piece.softcap;
}

FLASH_REF_INLINE bool scores_are_products(const AttentionPiece& piece) {
  return piece.softcap == 0 && piece.slopes == nullptr && piece.mask == nullptr;
}

// The scores of one row, a query of one head, whose keys a piece counts from the start of the sequence.
template <class T>
class RowOfScores {
 public:
  FLASH_REF_INLINE RowOfScores(const AttentionPiece& piece, std::int64_t query, std::int64_t head)
      : piece_(piece), position_(piece.first_position + query), cap_(broadcast(piece.softcap * kLog2E)) {
    if (piece.slopes != nullptr) slope_ = steepness(piece.slopes[head * piece.slope_stride]);
    mask_offset_ = query * piece.mask_strides.row + head * piece.mask_strides.head;
  }

  // The scores of kLanes keys from `key` on. `derivative` is that of a score by its product's multiple.
  FLASH_REF_INLINE Vec at(Vec product, std::int64_t key, Vec& derivative) const {
    Vec score = product;
    derivative = broadcast(1.0F);
    if (piece_.softcap != 0) {
      score = cap_ * tanh_with_derivative(product, derivative);
    }
    if (slope_ != 0) {
      const Vec distance = broadcast(static_cast<float>(position_ - key)) - lane_numbers();
      score = multiply_add(broadcast(-slope_), magnitude(distance), score);
    }
    return piece_.mask == nullptr ? score : score + mask(key);
  }

 private:
  // In base 2. A finite slope stays finite: 0 times it, at the query's own place, is 0.
  static FLASH_REF_INLINE float steepness(float slope) {
    const float steep = plain_nan(slope) * kLog2E;
    const bool overflows = __builtin_isinf(steep) && !__builtin_isinf(slope);
    return overflows ? __builtin_copysignf(__FLT_MAX__, slope) : steep;
  }

  // Keys beyond the piece have no mask; their scores are not used.
  FLASH_REF_INLINE Vec mask(std::int64_t key) const {
    const std::int64_t some = smaller(kLanes, piece_.last_key - key), step = piece_.mask_strides.dim;
    if (some <= 0) return Vec{};
    const std::int64_t first = mask_offset_ + key * step;
    if (piece_.mask_kind == MaskKind::kFloat32)
      return plain_nan(widen_some(static_cast<const float*>(piece_.mask) + first, step, some)) * kLog2E;
    if (piece_.mask_kind == MaskKind::kLikeQ)
      return widen_some(static_cast<const T*>(piece_.mask) + first, step, some) * kLog2E;
    Vec result = {};
    const auto* seen = static_cast<const unsigned char*>(piece_.mask) + first;
    for (std::int64_t i = 0; i < some; ++i) result[i] = seen[i * step] != 0 ? 0.0F : -__builtin_inff();
    return result;
  }

  const AttentionPiece& piece_;
  std::int64_t position_, mask_offset_;
  Vec cap_;
  float slope_ = 0;
};

}  // namespace flash_ref::cpu::FLASH_REF_ISA
