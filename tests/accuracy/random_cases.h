// Draws for the property tests: sizes, dtypes and layouts from one generator, so that a failing case is named
// by its number.
#pragma once

#include "tests/accuracy/test_tensor.h"

namespace flash_ref_test {

class Draws {
 public:
  explicit Draws(std::uint32_t seed) : random_(seed) {}

  std::int64_t from(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  // True once in `count`.
  bool once_in(std::int64_t count) { return from(1, count) == 1; }
  Layout layout() { return kLayouts[static_cast<std::size_t>(from(0, 4))]; }
  TestDtype half() { return once_in(2) ? kFloat16 : kBFloat16; }
  TestDtype floating() { return once_in(3) ? kFloat32 : half(); }

 private:
  std::mt19937 random_;
};

}  // namespace flash_ref_test
