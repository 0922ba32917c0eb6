#include "kernels/reference/rwkv7.h"

#include <cmath>

namespace flash_ref::reference {
namespace {

// S := S diag(exp(w)) + (S a) b^T + v k^T and o := scale S r, for vectors that start at `at` and S at
// `state`.
void step(const Rwkv7Case& sizes, const Rwkv7Inputs& inputs, std::size_t at, double* state, double* out) {
  const auto dim = static_cast<std::size_t>(sizes.dim);
  for (std::size_t i = 0; i < dim; ++i) {
    double* row = state + i * dim;
    double projected = 0;
    for (std::size_t j = 0; j < dim; ++j) projected += row[j] * inputs.a[at + j];
    for (std::size_t j = 0; j < dim; ++j) {
      row[j] = row[j] * std::exp(inputs.w[at + j]) + projected * inputs.b[at + j] +
               inputs.v[at + i] * inputs.k[at + j];
    }
    double sum = 0;
    for (std::size_t j = 0; j < dim; ++j) sum += row[j] * inputs.r[at + j];
    out[i] = sizes.scale * sum;
  }
}

}  // namespace

Rwkv7Result rwkv7_fp64(const Rwkv7Case& sizes, const Rwkv7Inputs& inputs) {
  Rwkv7Result result;
  result.out.resize(inputs.r.size());
  result.state = inputs.state;
  result.state.resize(static_cast<std::size_t>(sizes.batch * sizes.heads * sizes.dim * sizes.dim));
  for (std::int64_t batch = 0; batch < sizes.batch; ++batch) {
    for (std::int64_t head = 0; head < sizes.heads; ++head) {
      double* state = result.state.data() + (batch * sizes.heads + head) * sizes.dim * sizes.dim;
      for (std::int64_t t = 0; t < sizes.seq; ++t) {
        const std::int64_t at = ((batch * sizes.seq + t) * sizes.heads + head) * sizes.dim;
        step(sizes, inputs, static_cast<std::size_t>(at), state, result.out.data() + at);
      }
    }
  }
  return result;
}

}  // namespace flash_ref::reference
