// 2^x for a vector of floats: x = n + f with n an integer and f in [-1/2, 1/2], 2^f = 1 + f p(f) with p of
// degree 4, fitted so that the relative error of 2^f is below 2^-23.3, and n added to the exponent bits.
// Together within 3 ulp.
#pragma once

#include "kernels/cpu/isa/vector.h"

namespace flash_ref::cpu::FLASH_REF_ISA {

// For x <= 0 or NaN. exp2_nonpositive(0) is exactly 1; at and below -127 it is exactly 0; between -127 and
// -126 it is some number from 0 to 2^-126.
FLASH_REF_INLINE Vec exp2_nonpositive(Vec x) {
  const Vec rounder =
      broadcast(0x1.8p23F);  // adding it rounds to an integer, which then sits in the low bits
  const Vec clamped = maximum(broadcast(-127.0F), x);
  const Vec shifted = clamped + rounder;
  const Vec f = clamped - (shifted - rounder);
  Vec p = broadcast(0x1.5bba0ep-10F);
  p = multiply_add(p, f, broadcast(0x1.3cea88p-7F));
  p = multiply_add(p, f, broadcast(0x1.c6b752p-5F));
  p = multiply_add(p, f, broadcast(0x1.ebf9bcp-3F));
  p = multiply_add(p, f, broadcast(0x1.62e42ap-1F));
  p = multiply_add(p, f, broadcast(1.0F));
  // The shift drops all of the rounder's bits and leaves n in the exponent field. At -127 the exponent of 1
  // becomes 0.
  return (Vec)((Bits)p + ((Bits)shifted << 23));
}

// The same NaN for all: bits of float32's other ones would reach the sign and the exponent above. Those of
// half formats, widened, do not go that low, and products of them give this one.
FLASH_REF_INLINE float plain_nan(float x) { return x == x ? x : __builtin_nanf(""); }
FLASH_REF_INLINE Vec plain_nan(Vec x) { return x == x ? x : broadcast(__builtin_nanf("")); }

// For any x: below 0.3 in magnitude by its series, else as (1 - t) / (1 + t) with t = exp(-2 |x|), whose
// derivative is 4 t / (1 + t)^2: where tanh is near 1, 1 - tanh^2 would be roundings.
FLASH_REF_INLINE Vec tanh_with_derivative(Vec x, Vec& derivative) {
  const Vec size = magnitude(x);
  const Vec t = exp2_nonpositive(size * -2.8853900817779268F);  // -2 log2(e)
  const Vec inverse = 1.0F / (1.0F + t);
  const Vec far = (Vec)((Bits)((1.0F - t) / (1.0F + t)) | ((Bits)x & 0x80000000U));
  const Vec square = x * x;
  Vec series = broadcast(62.0F / 2835.0F);
  series = multiply_add(series, square, broadcast(-17.0F / 315.0F));
  series = multiply_add(series, square, broadcast(2.0F / 15.0F));
  series = multiply_add(series, square, broadcast(-1.0F / 3.0F));
  series = multiply_add(series, square, broadcast(1.0F));
  derivative = 4.0F * t * inverse * inverse;
  return size < 0.3F ? x * series : far;
}

FLASH_REF_INLINE Vec tanh_of(Vec x) {
  Vec derivative;
  return tanh_with_derivative(x, derivative);
}

}  // namespace flash_ref::cpu::FLASH_REF_ISA
