// Rotary embedding: the positions of all sequences, shared out in runs; isa/rotary.h does the arithmetic.
#include <algorithm>

#include "kernels/cpu/isa.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/threads.h"

namespace flash_ref::cpu {

void rotary(const RotaryProblem& problem) {
  const std::int64_t positions = problem.batch * problem.seq;
  if (positions == 0 || problem.heads == 0 || problem.dim == 0) return;
  const int threads = useful_threads(
      static_cast<double>(positions) * static_cast<double>(problem.heads) * static_cast<double>(problem.dim),
      positions);
  const std::int64_t run = std::max<std::int64_t>(positions / (8 * threads), 1);
  const IsaTable& table = *selected_isa()->table;
  run_pieces((positions + run - 1) / run, threads, [&](std::int64_t index, int) {
    table.rotary(problem, index * run, std::min((index + 1) * run, positions));
  });
}

}  // namespace flash_ref::cpu
