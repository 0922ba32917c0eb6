// RWKV-7 for the tests: the delta rule in fp64, one step after the other.
#pragma once

#include <cstdint>
#include <vector>

namespace flash_ref::reference {

struct Rwkv7Case {
  std::int64_t batch, seq, heads, dim;
  double scale = 1;
};

struct Rwkv7Inputs {
  std::vector<double> r, w, k, v, a, b;  // (batch, seq, heads, dim)
  std::vector<double> state;             // (batch, heads, dim, dim); empty: 0
};

struct Rwkv7Result {
  std::vector<double> out;    // (batch, seq, heads, dim)
  std::vector<double> state;  // (batch, heads, dim, dim)
};

Rwkv7Result rwkv7_fp64(const Rwkv7Case& sizes, const Rwkv7Inputs& inputs);

}  // namespace flash_ref::reference
