#include "tests/accuracy/attention_bwd_run.h"

#include <cmath>

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

namespace {

double largest(const std::vector<double>& values) {
  double result = 0;
  for (double value : values) result = std::max(result, std::abs(value));
  return result;
}

// A known miss of the CUDA kernels: dS = P (dP - delta) is a difference of two sums of `dim` products. Where
// it cancels, as for a row that sees one key, float32's rounding of them remains, while the naive sums happen
// to be equal. On CPU such rows take lse and delta from their own scores, and nothing is allowed.
double rounding_of_ds(const AttentionCase& sizes, const AttentionInputs& inputs,
                      const std::vector<double>& dout) {
  if (kDevice == 1) return 0;
  const double scale =
      sizes.scale != 0 ? std::abs(sizes.scale) : 1 / std::sqrt(static_cast<double>(sizes.dim));
  return std::ldexp(static_cast<double>(sizes.dim), -24) * largest(dout) * largest(inputs.v) * scale;
}

}  // namespace

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
  const double noise = rounding_of_ds(sizes, inputs, dout);
  const auto add = [&](const char* name, const TestTensor& actual, const std::vector<double>& exact_values,
                       const std::vector<double>& naive_values, double factor) {
    const std::string found = judge(actual.values(), exact_values, naive_values, dtype, noise * factor);
    if (!found.empty()) problem += std::string(name) + ": " + found;
  };
  add("dq", call.dq, exact.dq, naive.dq, largest(inputs.k));
  add("dk", call.dk, exact.dk, naive.dk, largest(inputs.q));
  add("dv", call.dv, exact.dv, naive.dv, 0);
  if (!call.guards_intact()) problem += "a store outside of the gradients; ";
  return problem;
}

}  // namespace flash_ref_test
