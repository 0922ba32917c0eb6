#include "tests/accuracy/attention_bwd_run.h"

namespace flash_ref_test {

using flash_ref::reference::AttentionCase;
using flash_ref::reference::AttentionGradients;
using flash_ref::reference::AttentionInputs;

AttentionBwdCall::AttentionBwdCall(const AttentionCase& sizes, TestDtype dtype, AttentionLayouts layouts)
    : forward(sizes, dtype, layouts),
      dout({sizes.batch, sizes.seq_q, sizes.heads, sizes.dim}, dtype, layouts.v),
      dq({sizes.batch, sizes.seq_q, sizes.heads, sizes.dim}, dtype, layouts.k),
      dk({sizes.batch, sizes.seq_k, sizes.kv_heads, sizes.dim}, dtype, layouts.out),
      dv({sizes.batch, sizes.seq_k, sizes.kv_heads, sizes.dim}, dtype, layouts.q) {}

void AttentionBwdCall::fill(const AttentionInputs& inputs, const std::vector<double>& dout_values) {
  forward.fill(inputs);
  dout.set(dout_values);
}

int AttentionBwdCall::run() {
  if (int status = forward.run()) return status;
  return run_backward(forward.options());
}

int AttentionBwdCall::run_backward(const flash_ref_attention_options& options) {
  flash_ref_attention_options all = options;
  const auto workspace = device_workspace(all, [&](std::size_t* bytes) {
    return flash_ref_attention_bwd_workspace(&forward.q, &forward.k, &forward.v, &all, bytes);
  });
  return flash_ref_attention_bwd(&forward.q, &forward.k, &forward.v, &forward.out, &forward.lse, &dout, &dq,
                                 &dk, &dv, &all);
}

bool AttentionBwdCall::guards_intact() const {
  return dq.guards_intact() && dk.guards_intact() && dv.guards_intact();
}

std::string check_attention_bwd(const AttentionCase& sizes, TestDtype dtype, std::uint32_t seed,
                                AttentionLayouts layouts, double spread, Extras extras) {
  std::mt19937 random(seed);
  AttentionInputs inputs = random_inputs(sizes, dtype, random, spread);
  add_extras(sizes, dtype, extras, random, inputs);
  const std::vector<double> dout = random_values(random, inputs.q.size(), dtype);
  AttentionBwdCall call(sizes, dtype, layouts);
  call.forward.mask_as = extras.mask;
  call.fill(inputs, dout);
  if (call.run() != FLASH_REF_OK) return flash_ref_last_error();
  const AttentionGradients exact = attention_bwd_fp64(sizes, inputs, dout);
  const AttentionGradients naive = attention_bwd_naive(sizes, inputs, dout, dtype.format);
  std::string problem;
  const auto add = [&](const char* name, const TestTensor& actual, const std::vector<double>& exact_values,
                       const std::vector<double>& naive_values) {
    const std::string found = judge(actual.values(), exact_values, naive_values, dtype);
    if (!found.empty()) problem += std::string(name) + ": " + found;
  };
  add("dq", call.dq, exact.dq, naive.dq);
  add("dk", call.dk, exact.dk, naive.dk);
  add("dv", call.dv, exact.dv, naive.dv);
  if (!call.guards_intact()) problem += "a store outside of the gradients; ";
  return problem;
}

}  // namespace flash_ref_test
