// The gradients of RWKV-7 for the tests, in fp64: the chain rule over the recurrence, all states kept.
#pragma once

#include "kernels/reference/rwkv7.h"

namespace flash_ref::reference {

struct Rwkv7Gradients {
  std::vector<double> dr, dw, dk, dv, da, db;  // (batch, seq, heads, dim)
  std::vector<double> dstate;                  // of the initial state
};

// `dfinal` may be empty: 0.
Rwkv7Gradients rwkv7_bwd_fp64(const Rwkv7Case& sizes, const Rwkv7Inputs& inputs,
                              const std::vector<double>& dout, const std::vector<double>& dfinal);

}  // namespace flash_ref::reference
