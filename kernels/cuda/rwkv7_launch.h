// What the RWKV-7 kernels are given. Backward needs states that forward met: one is kept every kKept
// positions, and those between are made again into memory of the block.
#pragma once

#include "kernels/launch/problem.h"

namespace flash_ref {

constexpr int kRwkv7Dims[] = {64, 128};  // smaller ones are filled up with zeros
constexpr int kRwkv7Columns = 16;        // of the state's row, of a thread
constexpr int kRwkv7Steps = 16;          // positions whose vectors lie in shared memory at a time

constexpr int rwkv7_threads(int dim) { return dim * (dim / kRwkv7Columns); }
// r, decay, k, v, a and b of those positions; backward dout besides.
constexpr int rwkv7_shared_bytes(int dim, int vectors) { return vectors * kRwkv7Steps * dim * 4; }

struct Rwkv7Launch {
  Rwkv7Problem problem;
};

}  // namespace flash_ref
