// Calls that are right, to be made wrong in one point by a test. After each failed call nothing may have been
// written.
#pragma once

#include <string>

#include "tests/accuracy/test_tensor.h"

namespace flash_ref_test {

// How a message goes on that names the devices of a library built with CUDA.
#ifdef FLASH_REF_HAS_CUDA
inline const std::string kAndCuda = " and 2 (CUDA)";
#else
inline const std::string kAndCuda;
#endif

// Status and message of a call, and whether an output changed.
struct Outcome {
  int status;
  std::string message;
  bool written;
};

// q (2, 5, 4, 16), k and v (2, 7, 2, 16) in float16. The DLTensors are copies that may be changed freely.
struct AttentionArguments {
  TestTensor q_memory{{2, 5, 4, 16}, kFloat16}, k_memory{{2, 7, 2, 16}, kFloat16},
      v_memory{{2, 7, 2, 16}, kFloat16}, out_memory{{2, 5, 4, 16}, kFloat16}, lse_memory{{2, 4, 5}, kFloat32};
  DLTensor q = q_memory.tensor(), k = k_memory.tensor(), v = v_memory.tensor(), out = out_memory.tensor(),
           lse = lse_memory.tensor();
  flash_ref_attention_options options{};

  AttentionArguments() { options.struct_size = sizeof options; }

  DLTensor& named(const std::string& role) {
    return role == "q" ? q : role == "k" ? k : role == "v" ? v : role == "out" ? out : lse;
  }

  Outcome call() { return call(&q, &k, &v, &out, &lse, &options); }
  Outcome call(const DLTensor* q_, const DLTensor* k_, const DLTensor* v_, DLTensor* out_, DLTensor* lse_,
               const void* options_) {
    const auto out_before = out_memory.memory();
    const auto lse_before = lse_memory.memory();
    const int status = flash_ref_attention_fwd(q_, k_, v_, out_, lse_,
                                               static_cast<const flash_ref_attention_options*>(options_));
    return {status, flash_ref_last_error(),
            out_before != out_memory.memory() || lse_before != lse_memory.memory()};
  }
};

// x (2, 5, 4, 16), cos and sin (5, 6) in bfloat16.
struct RotaryArguments {
  TestTensor x_memory{{2, 5, 4, 16}, kBFloat16}, cos_memory{{5, 6}, kBFloat16}, sin_memory{{5, 6}, kBFloat16},
      out_memory{{2, 5, 4, 16}, kBFloat16};
  DLTensor x = x_memory.tensor(), cos = cos_memory.tensor(), sin = sin_memory.tensor(),
           out = out_memory.tensor();
  flash_ref_rotary_options options{};

  RotaryArguments() { options.struct_size = sizeof options; }

  DLTensor& named(const std::string& role) {
    return role == "x" ? x : role == "cos" ? cos : role == "sin" ? sin : out;
  }

  Outcome call() { return call(&x, &cos, &sin, &out, &options); }
  Outcome call(const DLTensor* x_, const DLTensor* cos_, const DLTensor* sin_, DLTensor* out_,
               const void* options_) {
    const auto before = out_memory.memory();
    const int status =
        flash_ref_rotary(x_, cos_, sin_, out_, static_cast<const flash_ref_rotary_options*>(options_));
    return {status, flash_ref_last_error(), before != out_memory.memory()};
  }
};

#define REQUIRE_ERROR(outcome, expected_status, expected_message) \
  do {                                                            \
    const flash_ref_test::Outcome observed = (outcome);           \
    CHECK(observed.message == (expected_message));                \
    CHECK(observed.status == (expected_status));                  \
    CHECK_FALSE(observed.written);                                \
  } while (false)

}  // namespace flash_ref_test
