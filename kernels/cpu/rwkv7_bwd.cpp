// RWKV-7, backward: a piece is one head of one batch; isa/rwkv7_bwd.h does the arithmetic.
#include "kernels/cpu/isa.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/threads.h"

namespace flash_ref::cpu {

std::size_t rwkv7_bwd_scratch_bytes(const Rwkv7Backward& problem) {
  const Rwkv7Problem& all = problem.forward;
  if (all.batch * all.heads * all.dim == 0) return 0;
  return (selected_isa()->table->rwkv7_bwd_scratch(all.dim, all.seq) + 63) / 64 * 64;
}

int rwkv7_bwd_threads(const Rwkv7Backward& problem) {
  const Rwkv7Problem& all = problem.forward;
  const double work = 16.0 * static_cast<double>(all.batch) * static_cast<double>(all.heads) *
                      static_cast<double>(all.seq) * static_cast<double>(all.dim) *
                      static_cast<double>(all.dim);
  return useful_threads(work, all.batch * all.heads);
}

void rwkv7_bwd(const Rwkv7Backward& problem, void* scratch, int threads) {
  const std::size_t bytes = rwkv7_bwd_scratch_bytes(problem);
  const IsaTable& table = *selected_isa()->table;
  const Rwkv7Problem& all = problem.forward;
  run_pieces(all.batch * all.heads, threads, [&](std::int64_t index, int thread) {
    table.rwkv7_bwd(problem, index, static_cast<char*>(scratch) + static_cast<std::size_t>(thread) * bytes);
  });
}

}  // namespace flash_ref::cpu
