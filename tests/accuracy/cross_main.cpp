// The kernels where no test framework was built: one case of each function against fp64, for another
// processor.
#include <cstdio>

#include "tests/accuracy/attention_bwd_run.h"

using namespace flash_ref_test;
using flash_ref::reference::AttentionCase;

int main() {
  int wrong = 0;
  const auto report = [&](const char* what, const AttentionCase& sizes, TestDtype dtype,
                          const std::string& problem) {
    std::printf("%s, %s: %s\n", what, describe(sizes, dtype).c_str(),
                problem.empty() ? "right" : problem.c_str());
    wrong += problem.empty() ? 0 : 1;
  };
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    for (const AttentionCase& sizes :
         {AttentionCase{2, 37, 70, 4, 2, 40, true}, AttentionCase{1, 1, 700, 2, 1, 64},
          AttentionCase{1, 100, 130, 2, 2, 33, true, 0.2, 15.0, 40}}) {
      report("forward", sizes, dtype, check_attention(sizes, dtype, 5, {}, 1.0, {true, MaskAs::kTruths}));
      report("backward", sizes, dtype, check_attention_bwd(sizes, dtype, 6, {}, 1.0, {true, MaskAs::kLikeQ}));
    }
  }
  return wrong == 0 ? 0 : 1;
}
