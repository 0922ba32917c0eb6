// What the rotary kernel is given: the problem, and how its rows are cut.
#pragma once

#include "kernels/call/problem.h"

namespace flash_ref {

constexpr int kRotaryThreads = 256;

struct RotaryLaunch {
  RotaryProblem problem;
  std::int32_t positions, blocks_of_sequence;  // of a block, and blocks of a sequence
  std::int32_t rotating_units, copying_units;  // of a head: eight pairs, or eight elements
  bool x_in_chunks, out_in_chunks, tables_in_chunks, tail_in_chunks;
};

}  // namespace flash_ref
