// What the RWKV-7 kernels are given. Backward needs states that forward met: one is kept every kKept
// positions, and those between are made again into memory of the block.
#pragma once

#include "kernels/call/problem.h"

namespace flash_ref {

constexpr int kRwkv7Dims[] = {64, 128};  // smaller ones are filled up with zeros
constexpr int kRwkv7Steps = 16;          // positions whose vectors lie in shared memory at a time

// Of a row of the state, of a thread; a block of 512 threads leaves each 128 registers.
constexpr int rwkv7_columns(int dim) { return dim <= 64 ? 16 : 32; }
constexpr int rwkv7_threads(int dim) { return dim * (dim / rwkv7_columns(dim)); }
// So many vectors of those positions: forward r, decay, k, v, a and b.
constexpr int rwkv7_shared_bytes(int dim, int vectors) { return vectors * kRwkv7Steps * dim * 4; }

// Seven vectors, and of five sums along columns each warp's part.
constexpr int rwkv7_bwd_shared_bytes(int dim) {
  return rwkv7_shared_bytes(dim, 7) + 5 * (rwkv7_threads(dim) / 32) * dim * 4;
}

struct Rwkv7Launch {
  Rwkv7Problem problem;
};

struct Rwkv7BackwardLaunch {
  Rwkv7Backward problem;
  std::int64_t chunks, floats_of_block;  // of kRwkv7Steps positions; of a block in `states`
  float* states;
};

}  // namespace flash_ref
