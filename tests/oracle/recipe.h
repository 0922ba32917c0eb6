// What a generated program is made of.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dtype_guard::oracle {

enum class Shape : std::uint8_t {
  kStraight,  // no condition, no unknown code, no loop
  kBranching,
  kAnything,  // loops, unknown code, memory
};
// In a program of tier A (tiers.h) as many things are open.
inline constexpr std::size_t kMostAtoms = 6;
inline constexpr std::size_t kAnyNumberOfAtoms = SIZE_MAX;

struct Recipe {
  Shape shape = Shape::kAnything;
  int statements = 14;
  int most_depth = 3;
  std::size_t most_atoms = kMostAtoms;
  bool promotes = false;     // half tensors meet wider ones, and arrive at calls
  bool is_method = false;    // of a module, with what its constructor gave it
  bool is_composed = false;  // that module is made of others
  bool is_rare = false;      // half of the statements are such as other programs do not have
};

}  // namespace dtype_guard::oracle
