#include "kernels/reference/rwkv7_bwd.h"

#include <cmath>

namespace flash_ref::reference {
namespace {

using Matrix = std::vector<double>;  // dim x dim, rows are values

std::vector<double> times(const Matrix& matrix, const double* vector, std::size_t dim) {
  std::vector<double> result(dim);
  for (std::size_t i = 0; i < dim; ++i) {
    for (std::size_t j = 0; j < dim; ++j) result[i] += matrix[i * dim + j] * vector[j];
  }
  return result;
}

std::vector<double> transposed_times(const Matrix& matrix, const double* vector, std::size_t dim) {
  std::vector<double> result(dim);
  for (std::size_t i = 0; i < dim; ++i) {
    for (std::size_t j = 0; j < dim; ++j) result[j] += matrix[i * dim + j] * vector[i];
  }
  return result;
}

Matrix next_state(const Rwkv7Inputs& inputs, std::size_t at, const Matrix& state, std::size_t dim) {
  const std::vector<double> projected = times(state, &inputs.a[at], dim);
  Matrix next(dim * dim);
  for (std::size_t i = 0; i < dim; ++i) {
    for (std::size_t j = 0; j < dim; ++j) {
      next[i * dim + j] = state[i * dim + j] * std::exp(inputs.w[at + j]) + projected[i] * inputs.b[at + j] +
                          inputs.v[at + i] * inputs.k[at + j];
    }
  }
  return next;
}

// One position: `gradient` is that of the state after it, and becomes that of the state before it.
void go_back(const Rwkv7Case& sizes, const Rwkv7Inputs& inputs, const std::vector<double>& dout,
             std::size_t at, const Matrix& before, const Matrix& after, Matrix& gradient,
             Rwkv7Gradients& result) {
  const auto dim = static_cast<std::size_t>(sizes.dim);
  const auto store = [&](std::vector<double>& to, const std::vector<double>& values, double factor = 1) {
    for (std::size_t j = 0; j < dim; ++j) to[at + j] = factor * values[j];
  };
  for (std::size_t i = 0; i < dim; ++i) {
    for (std::size_t j = 0; j < dim; ++j)
      gradient[i * dim + j] += sizes.scale * dout[at + i] * inputs.r[at + j];
  }
  const std::vector<double> projected = times(before, &inputs.a[at], dim);
  const std::vector<double> dprojected = times(gradient, &inputs.b[at], dim);
  store(result.dr, transposed_times(after, &dout[at], dim), sizes.scale);
  store(result.dk, transposed_times(gradient, &inputs.v[at], dim));
  store(result.dv, times(gradient, &inputs.k[at], dim));
  store(result.db, transposed_times(gradient, projected.data(), dim));
  store(result.da, transposed_times(before, dprojected.data(), dim));
  for (std::size_t j = 0; j < dim; ++j) {
    const double decay = std::exp(inputs.w[at + j]);
    for (std::size_t i = 0; i < dim; ++i) {
      double& entry = gradient[i * dim + j];
      result.dw[at + j] += decay * entry * before[i * dim + j];
      entry = entry * decay + dprojected[i] * inputs.a[at + j];
    }
  }
}

}  // namespace

Rwkv7Gradients rwkv7_bwd_fp64(const Rwkv7Case& sizes, const Rwkv7Inputs& inputs,
                              const std::vector<double>& dout, const std::vector<double>& dfinal) {
  Rwkv7Gradients result;
  for (std::vector<double>* gradient :
       {&result.dr, &result.dw, &result.dk, &result.dv, &result.da, &result.db})
    gradient->resize(inputs.r.size());
  const auto dim = static_cast<std::size_t>(sizes.dim), seq = static_cast<std::size_t>(sizes.seq),
             heads = static_cast<std::size_t>(sizes.heads);
  for (std::size_t head = 0; head < static_cast<std::size_t>(sizes.batch) * heads; ++head) {
    const std::size_t square = dim * dim, first = head * square;
    const auto part = [&](const std::vector<double>& all) {
      return all.empty() ? Matrix(square) : Matrix(&all[first], &all[first] + square);
    };
    const auto at = [&](std::size_t t) { return ((head / heads * seq + t) * heads + head % heads) * dim; };
    std::vector<Matrix> states = {part(inputs.state)};
    for (std::size_t t = 0; t < seq; ++t) states.push_back(next_state(inputs, at(t), states[t], dim));
    Matrix gradient = part(dfinal);
    for (std::size_t t = seq; t-- > 0;)
      go_back(sizes, inputs, dout, at(t), states[t], states[t + 1], gradient, result);
    result.dstate.insert(result.dstate.end(), gradient.begin(), gradient.end());
  }
  return result;
}

}  // namespace flash_ref::reference
