#include "kernels/cpu/product.h"

namespace flash_ref {
namespace {

void add_row_product(const float* __restrict a, const float* __restrict b, std::int64_t b_stride,
                     float* __restrict c, std::int64_t depth, std::int64_t columns) {
  std::int64_t t = 0;
  for (; t + 4 <= depth; t += 4) {
    const float a0 = a[t], a1 = a[t + 1], a2 = a[t + 2], a3 = a[t + 3];
    const float* __restrict b0 = b + t * b_stride;
    const float* __restrict b1 = b0 + b_stride;
    const float* __restrict b2 = b1 + b_stride;
    const float* __restrict b3 = b2 + b_stride;
    for (std::int64_t j = 0; j < columns; ++j) {
      c[j] += (a0 * b0[j] + a1 * b1[j]) + (a2 * b2[j] + a3 * b3[j]);
    }
  }
  for (; t < depth; ++t) {
    for (std::int64_t j = 0; j < columns; ++j) c[j] += a[t] * b[t * b_stride + j];
  }
}

}  // namespace

void add_product(const float* a, std::int64_t a_stride, const float* b, std::int64_t b_stride, float* c,
                 std::int64_t c_stride, std::int64_t rows, std::int64_t depth, std::int64_t columns) {
  for (std::int64_t i = 0; i < rows; ++i) {
    add_row_product(a + i * a_stride, b, b_stride, c + i * c_stride, depth, columns);
  }
}

}  // namespace flash_ref
