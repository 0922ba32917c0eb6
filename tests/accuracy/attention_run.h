// One attention case, run and judged: random inputs in the given dtype and layouts, the kernel's answer
// against fp64 and against the naive computation in the same dtype.
#pragma once

#include <memory>
#include <string>

#include "kernels/reference/attention.h"
#include "tests/accuracy/test_tensor.h"

namespace flash_ref_test {

struct AttentionLayouts {
  Layout q = Layout::kCompact, k = Layout::kCompact, v = Layout::kCompact, out = Layout::kCompact,
         lse = Layout::kCompact;
};

enum class MaskAs { kNothing, kTruths, kFloats, kLikeQ };

// What a case may have besides its sizes.
struct Extras {
  bool alibi = false;
  MaskAs mask = MaskAs::kNothing;
};

// The tensors of one call.
struct AttentionCall {
  AttentionCall(const flash_ref::reference::AttentionCase& sizes, TestDtype dtype,
                AttentionLayouts layouts = {});

  void fill(const flash_ref::reference::AttentionInputs& inputs);
  int run();                                            // with lse
  int run(const flash_ref_attention_options& options);  // with lse
  flash_ref_attention_options options();                // those of `sizes`, of slopes and of the mask

  flash_ref::reference::AttentionCase sizes;
  TestDtype dtype;
  TestTensor q, k, v, out, lse, slopes;
  std::unique_ptr<TestTensor> mask;  // (batch, heads, seq_q, seq_k), made by fill()
  MaskAs mask_as = MaskAs::kFloats;  // to be set before
  Layout mask_layout;
  bool has_slopes = false;
};

flash_ref::reference::AttentionInputs random_inputs(const flash_ref::reference::AttentionCase& sizes,
                                                    TestDtype dtype, std::mt19937& random,
                                                    double spread = 1.0);

// "" or what is wrong: status, accuracy of out or lse, or a store outside of the outputs.
std::string check_attention(const flash_ref::reference::AttentionCase& sizes, TestDtype dtype,
                            std::uint32_t seed, AttentionLayouts layouts = {}, double spread = 1.0,
                            Extras extras = {});

// Slopes, and a mask that leaves about three of four keys and a number here and there, and one row without
// keys.
void add_extras(const flash_ref::reference::AttentionCase& sizes, TestDtype dtype, Extras extras,
                std::mt19937& random, flash_ref::reference::AttentionInputs& inputs);

std::string describe(const flash_ref::reference::AttentionCase& sizes, TestDtype dtype);

}  // namespace flash_ref_test
