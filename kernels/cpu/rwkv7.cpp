// RWKV-7, forward: rows of the states of all heads, shared out in blocks; isa/rwkv7.h does the arithmetic.
#include "kernels/cpu/isa.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/threads.h"

namespace flash_ref::cpu {
namespace {

std::int64_t pieces_of(const Rwkv7Problem& problem) {
  const std::int64_t rows = selected_isa()->table->rwkv7_rows;
  return problem.batch * problem.heads * ((problem.dim + rows - 1) / rows);
}

}  // namespace

std::size_t rwkv7_scratch_bytes(const Rwkv7Problem& problem) {
  if (pieces_of(problem) == 0) return 0;
  return (selected_isa()->table->rwkv7_scratch(problem.dim) + 63) / 64 * 64;
}

int rwkv7_threads(const Rwkv7Problem& problem) {
  const double work = 5.0 * static_cast<double>(problem.batch) * static_cast<double>(problem.heads) *
                      static_cast<double>(problem.seq) * static_cast<double>(problem.dim) *
                      static_cast<double>(problem.dim);
  return useful_threads(work, pieces_of(problem));
}

void rwkv7_fwd(const Rwkv7Problem& problem, void* scratch, int threads) {
  const std::size_t bytes = rwkv7_scratch_bytes(problem);
  const IsaTable& table = *selected_isa()->table;
  run_pieces(pieces_of(problem), threads, [&](std::int64_t index, int thread) {
    table.rwkv7(problem, index, static_cast<char*>(scratch) + static_cast<std::size_t>(thread) * bytes);
  });
}

}  // namespace flash_ref::cpu
