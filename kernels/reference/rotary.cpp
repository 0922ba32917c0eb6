#include "kernels/reference/rotary.h"

namespace flash_ref::reference {
namespace {

template <class Step>
std::vector<double> rotary(const RotaryCase& sizes, const RotaryInputs& inputs, Step step) {
  std::vector<double> out = inputs.x;
  for (std::int64_t row = 0; row < sizes.batch * sizes.seq * sizes.heads; ++row) {
    const std::int64_t position = row / sizes.heads % sizes.seq;
    for (std::int64_t i = 0; i < sizes.pairs; ++i) {
      const std::int64_t first = row * sizes.dim + (sizes.interleaved ? 2 * i : i);
      const std::int64_t second = first + (sizes.interleaved ? 1 : sizes.pairs);
      const auto entry = static_cast<std::size_t>(position * sizes.pairs + i);
      const double cos = inputs.cos[entry];
      const double sin = sizes.conjugate ? -inputs.sin[entry] : inputs.sin[entry];
      const double a = inputs.x[static_cast<std::size_t>(first)],
                   b = inputs.x[static_cast<std::size_t>(second)];
      out[static_cast<std::size_t>(first)] = step(step(a * cos) - step(b * sin));
      out[static_cast<std::size_t>(second)] = step(step(b * cos) + step(a * sin));
    }
  }
  return out;
}

}  // namespace

std::vector<double> rotary_fp64(const RotaryCase& sizes, const RotaryInputs& inputs) {
  return rotary(sizes, inputs, [](double value) { return value; });
}

std::vector<double> rotary_naive(const RotaryCase& sizes, const RotaryInputs& inputs, NumberFormat format) {
  return rotary(sizes, inputs, [format](double value) { return round_to(format, value); });
}

}  // namespace flash_ref::reference
