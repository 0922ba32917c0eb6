#include "tests/accuracy/rwkv7_run.h"

#include <algorithm>
#include <cmath>

namespace flash_ref_test {

using flash_ref::reference::round_to;
using flash_ref::reference::Rwkv7Case;
using flash_ref::reference::Rwkv7Inputs;

Rwkv7Inputs random_rwkv7_inputs(const Rwkv7Case& sizes, TestDtype dtype, bool with_state,
                                std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto count = static_cast<std::size_t>(sizes.batch * sizes.seq * sizes.heads * sizes.dim);
  Rwkv7Inputs inputs;
  inputs.r = random_values(random, count, dtype);
  inputs.k = random_values(random, count, dtype, 0.5);
  inputs.v = random_values(random, count, dtype);
  inputs.w = random_values(random, count, dtype, 2.0);
  inputs.a = random_values(random, count, dtype);
  std::uniform_real_distribution<double> rate(0, 1);
  const auto dim = static_cast<std::size_t>(sizes.dim);
  for (std::size_t row = 0; row < count; row += dim) {
    double square = 0;
    for (std::size_t j = 0; j < dim; ++j) square += inputs.a[row + j] * inputs.a[row + j];
    for (std::size_t j = 0; j < dim; ++j) {
      const double kk = inputs.a[row + j] / std::sqrt(square);
      inputs.a[row + j] = round_to(dtype.format, -kk);
      inputs.b.push_back(round_to(dtype.format, kk * rate(random)));
    }
  }
  for (double& w : inputs.w) w = round_to(dtype.format, -std::exp(-0.5) / (1 + std::exp(-w)));
  if (with_state) {
    inputs.state =
        random_values(random, static_cast<std::size_t>(sizes.batch * sizes.heads) * dim * dim, kFloat32);
  }
  return inputs;
}

double rms_ratio(const std::vector<double>& actual, const std::vector<double>& exact) {
  double error = 0, size = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    error += (actual[i] - exact[i]) * (actual[i] - exact[i]);
    size += exact[i] * exact[i];
  }
  return error == 0 ? 0 : std::sqrt(error / size);
}

double rwkv7_bound(const std::vector<double>& exact, TestDtype dtype) {
  std::vector<double> rounded = exact;
  for (double& value : rounded) value = round_to(dtype.format, value);
  const double rule = std::clamp(std::ldexp(0.5, 1 - dtype.format.digits), 1e-5, 2e-3);
  return std::max(rule, 1.1 * rms_ratio(rounded, exact));
}

}  // namespace flash_ref_test
