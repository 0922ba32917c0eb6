// Sequences of different lengths in one call, forward and backward, held against one call for each sequence.
#pragma once

#include <memory>

#include "tests/accuracy/attention_bwd_run.h"

namespace flash_ref_test {

struct VarlenCase {
  std::vector<std::int64_t> q_lengths, k_lengths;
  std::int64_t heads = 4, kv_heads = 2, dim = 40;
  bool causal = false;
  double softcap = 0;
  std::int64_t window = 0;
  bool alibi = false;
  MaskAs mask = MaskAs::kNothing;
  std::int64_t spare = 0;  // rows and keys that the mask has besides those of the longest sequences

  std::int64_t total_q() const;
  std::int64_t total_k() const;
  std::int64_t longest_q() const;
  std::int64_t longest_k() const;
  // Sequence `b` by itself.
  flash_ref::reference::AttentionCase alone(std::size_t b) const;
};

struct VarlenCall {
  VarlenCall(const VarlenCase& sizes, TestDtype dtype, Layout layout = Layout::kCompact);

  void fill(std::uint32_t seed);
  int run_forward();
  int run_backward();
  flash_ref_attention_options options() const;
  bool guards_intact() const;

  // "" or what differs, by a bit, from a call for sequence `b` alone.
  std::string differences(std::size_t b, Layout layout) const;
  // The same by the error rule, for calls that are cut in another way.
  std::string errors(std::size_t b) const;

  VarlenCase sizes;
  TestDtype dtype;
  std::vector<std::int64_t> first_q, first_k;  // row of each sequence, then the total
  TestTensor q, k, v, out, lse, dout, dq, dk, dv, cu_q, cu_k, slopes;
  std::unique_ptr<TestTensor> mask;

 private:
  flash_ref::reference::AttentionInputs inputs_of(std::size_t b) const;
  // Rows of sequence `b` in a tensor of queries or of keys.
  std::vector<double> queries(const TestTensor& all, std::size_t b) const;
  std::vector<double> keys(const TestTensor& all, std::size_t b) const;
  std::vector<double> lse_of(std::size_t b) const;
  std::vector<double> mask_of(std::size_t b) const;
};

std::string describe(const VarlenCase& sizes, TestDtype dtype);

}  // namespace flash_ref_test
