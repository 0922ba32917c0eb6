// The kernels where no test framework was built: cases of attention forward, backward and with a cache
// (which has rotary's loop), and of RWKV-7, against fp64, for another processor.
#include <cstdio>

#include "tests/accuracy/attention_bwd_run.h"
#include "tests/accuracy/kvcache_run.h"
#include "tests/accuracy/rwkv7_run.h"

using namespace flash_ref_test;
using flash_ref::reference::AttentionCase;
using flash_ref::reference::KvCacheCase;

namespace {

// Forward only: the state goes in and comes out.
bool rwkv7_is_right(TestDtype dtype) {
  const flash_ref::reference::Rwkv7Case sizes{2, 20, 2, 40};
  const auto inputs = random_rwkv7_inputs(sizes, dtype, true, 7);
  const std::vector<std::int64_t> shape = {2, 20, 2, 40}, states = {2, 2, 40, 40};
  TestTensor r(shape, dtype), w(shape, dtype), k(shape, dtype), v(shape, dtype), a(shape, dtype),
      b(shape, dtype), out(shape, dtype), initial(states, kFloat32), final(states, kFloat32);
  r.set(inputs.r), w.set(inputs.w), k.set(inputs.k), v.set(inputs.v), a.set(inputs.a), b.set(inputs.b);
  initial.set(inputs.state);
  if (flash_ref_rwkv7_fwd(&r, &w, &k, &v, &a, &b, &initial, &out, &final, nullptr) != FLASH_REF_OK)
    return false;
  const auto exact = rwkv7_fp64(sizes, inputs);
  return rms_ratio(out.values(), exact.out) <= rwkv7_bound(exact.out, dtype) &&
         rms_ratio(final.values(), exact.state) <= 1e-5;
}

}  // namespace

int main() {
  int wrong = 0;
  const auto report = [&](const char* what, const std::string& sizes, const std::string& problem) {
    std::printf("%s, %s: %s\n", what, sizes.c_str(), problem.empty() ? "right" : problem.c_str());
    wrong += problem.empty() ? 0 : 1;
  };
  for (const TestDtype& dtype : {kFloat16, kBFloat16}) {
    for (const AttentionCase& sizes :
         {AttentionCase{2, 37, 70, 4, 2, 40, true}, AttentionCase{1, 1, 700, 2, 1, 64},
          AttentionCase{1, 100, 130, 2, 2, 33, true, 0.2, 15.0, 40}}) {
      const std::string text = describe(sizes, dtype);
      report("forward", text, check_attention(sizes, dtype, 5, {}, 1.0, {true, MaskAs::kTruths}));
      report("backward", text, check_attention_bwd(sizes, dtype, 6, {}, 1.0, {true, MaskAs::kLikeQ}));
    }
    // Decoding and a chunk, with rotation: in pages, and in one piece.
    for (std::int64_t page : {0, 16}) {
      KvCacheCase sizes{3, 3, 4, 2, 40, 200, {60, 0, 190}};
      sizes.pairs = 10;
      sizes.positions = 200;
      sizes.interleaved = page != 0;
      sizes.causal = true;
      const Placement placement{page == 0 ? Placement::kByBatch : Placement::kPaged, page};
      report("with a cache", describe(sizes, dtype, placement), check_kvcache(sizes, dtype, 8, placement));
    }
    report("rwkv7", dtype.name, rwkv7_is_right(dtype) ? "" : "not exact enough");
  }
  return wrong == 0 ? 0 : 1;
}
