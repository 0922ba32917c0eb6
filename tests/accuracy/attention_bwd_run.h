// One backward case, run and judged: forward, then backward on what the forward kernel stored, each gradient
// against fp64 and against the naive computation in the same dtype.
#pragma once

#include "kernels/reference/attention_bwd.h"
#include "tests/accuracy/attention_run.h"

namespace flash_ref_test {

struct AttentionBwdCall {
  AttentionBwdCall(const flash_ref::reference::AttentionCase& sizes, TestDtype dtype,
                   AttentionLayouts layouts = {});

  void fill(const flash_ref::reference::AttentionInputs& inputs, const std::vector<double>& dout_values);
  int run();  // forward and backward
  int run_backward(const flash_ref_attention_options& options);
  bool guards_intact() const;

  AttentionCall forward;
  TestTensor dout, dq, dk, dv;
};

// "" or what is wrong: status, accuracy of a gradient, or a store outside of them.
std::string check_attention_bwd(const flash_ref::reference::AttentionCase& sizes, TestDtype dtype,
                                std::uint32_t seed, AttentionLayouts layouts = {}, double spread = 1.0,
                                Extras extras = {});

}  // namespace flash_ref_test
