// Launch parameters and tiling, and what a call on a device does otherwise than one on CPU.
#include <limits>

#include "kernels/cuda/attention_bwd_launch.h"
#include "kernels/cuda/attention_layout.h"
#include "kernels/cuda/kvcache_launch.h"
#include "kernels/cuda/rwkv7_launch.h"
#include "tests/accuracy/attention_bwd_run.h"
#include "tests/catch.h"
#include "tests/emulated/block.h"

using namespace flash_ref;
using namespace flash_ref_test;
using flash_ref::reference::AttentionCase;
namespace emulated = flash_ref_emulated;

namespace {

constexpr int kSharedOfSm80 = 163 << 10;  // bytes of a block at most
constexpr int kSharedOfSm90 = 227 << 10;

emulated::Counters counted(const std::function<void()>& body) {
  const emulated::Counters before = emulated::counters();
  body();
  emulated::Counters after = emulated::counters();
  after.blocks -= before.blocks;
  after.launches -= before.launches;
  after.products -= before.products;
  after.matrix_loads -= before.matrix_loads;
  after.matrix_conflicts -= before.matrix_conflicts;
  return after;
}

emulated::Counters forward(const AttentionCase& sizes) {
  return counted([&] {
    std::mt19937 random(3);
    AttentionCall call(sizes, kFloat16);
    call.fill(random_inputs(sizes, kFloat16, random));
    REQUIRE(call.run() == FLASH_REF_OK);
  });
}

}  // namespace

TEST_CASE("launch: shared memory fits, and twice where two blocks should share a multiprocessor") {
  for (int dim : kAttentionDims) {
    CHECK(2 * (attention_shared_bytes(dim) + 1024) <= kSharedOfSm80 + 1024);
    CHECK(kvcache_shared_bytes(dim) <= kSharedOfSm80);
    if (dim <= 128) CHECK(2 * (kvcache_shared_bytes(dim) + 1024) <= kSharedOfSm80 + 1024);
    CHECK(attention_bwd_shared_bytes(dim) <= kSharedOfSm80);
    if (dim <= 128) CHECK(2 * (attention_bwd_shared_bytes(dim) + 1024) <= kSharedOfSm90 + 1024);
  }
  for (int dim : kRwkv7Dims) {
    CHECK(rwkv7_threads(dim) <= 1024);
    CHECK(rwkv7_bwd_shared_bytes(dim) <= kSharedOfSm80);
  }
}

TEST_CASE("launch: rows of few keys get a kernel of their own where there can be some") {
  const auto launches = [](const AttentionCase& sizes) {
    return counted([&] { CHECK(check_attention_bwd(sizes, kFloat16, 1) == ""); }).launches;
  };
  const std::uint64_t without = launches({1, 20, 17, 1, 1, 64});
  CHECK(without == 4);  // forward, deltas, dq, dk and dv
  CHECK(launches({1, 20, 16, 1, 1, 64}) == without + 1);
  CHECK(launches({1, 20, 17, 1, 1, 64, true}) == without + 1);
  CHECK(launches({1, 4, 20, 1, 1, 64, true}) == without);
  CHECK(launches({1, 4, 19, 1, 1, 64, true}) == without + 1);
  CHECK(launches({1, 20, 40, 1, 1, 64, false, 0, 0, 30}) == without + 1);
}

TEST_CASE("launch: a row's few keys may lie in two tiles") {
  // Two keys that are the same have the same dP, which is delta: dS is 0.
  const AttentionCase sizes{1, 300, 300, 2, 1, 64, true, 0, 0, 2};
  std::mt19937 random(2);
  reference::AttentionInputs inputs = random_inputs(sizes, kBFloat16, random);
  for (auto* keys : {&inputs.k, &inputs.v})
    for (std::size_t i = 64; i < keys->size(); ++i) (*keys)[i] = (*keys)[i - 64];
  AttentionBwdCall call(sizes, kBFloat16);
  call.fill(inputs, random_values(random, inputs.q.size(), kBFloat16));
  REQUIRE(call.run() == FLASH_REF_OK);
  for (double value : call.dq.values()) CHECK(value == 0);
  for (double value : call.dk.values()) CHECK(value == 0);
}

TEST_CASE("launch: head dims take the next instance") {
  CHECK(cuda::padded_dim(1) == 64);
  CHECK(cuda::padded_dim(64) == 64);
  CHECK(cuda::padded_dim(65) == 96);
  CHECK(cuda::padded_dim(97) == 128);
  CHECK(cuda::padded_dim(129) == 256);
  CHECK(cuda::padded_dim(257) == 0);
}

TEST_CASE("launch: options that need the general kernel get it, others do not") {
  AttentionProblem problem{};
  problem.scale = 0.1F;
  CHECK(cuda::masking_of(problem) == Masking::kNone);
  problem.causal = true;
  CHECK(cuda::masking_of(problem) == Masking::kCausal);
  const auto general = [&](auto change) {
    AttentionProblem changed = problem;
    change(changed);
    return cuda::masking_of(changed) == Masking::kGeneral;
  };
  const float slope = 1;
  CHECK(general([](AttentionProblem& p) { p.window = 5; }));
  CHECK(general([](AttentionProblem& p) { p.softcap = 5; }));
  CHECK(general([](AttentionProblem& p) { p.scale = -1; }));
  CHECK(general([&](AttentionProblem& p) { p.slopes = &slope; }));
  CHECK(general([](AttentionProblem& p) { p.mask_kind = MaskKind::kBool; }));
}

TEST_CASE("launch: 16 bytes are copied at a time where strides and place allow it") {
  alignas(16) std::uint16_t memory[64];
  const Strides4 compact = {1024, 128, 64, 1};
  CHECK(cuda::in_chunks(memory, compact, 64));
  CHECK_FALSE(cuda::in_chunks(memory + 4, compact, 64));
  CHECK_FALSE(cuda::in_chunks(memory, compact, 60));
  for (int i = 0; i < 4; ++i) {
    Strides4 odd = {1024, 128, 64, 1};
    odd[i] += 4;
    CHECK_FALSE(cuda::in_chunks(memory, odd, 64));
  }
  const Strides4 far = {1024, std::int64_t{1} << 24, 64, 1};
  CHECK_FALSE(cuda::in_chunks(memory, far, 64));
}

TEST_CASE("launch: blocks are tiles of queries, and causal ones skip keys that no query of the tile sees") {
  CHECK(forward({2, 129, 64, 6, 2, 64}).blocks == 2 * 6 * 2);
  CHECK(forward({1, 64, 64, 1, 1, 256}).blocks == 1);
  const auto full = forward({1, 512, 512, 1, 1, 64}), causal = forward({1, 512, 512, 1, 1, 64, true});
  // 4 tiles of 128 queries, 8 of 64 keys: all 32 pairs of tiles, or 2 + 4 + 6 + 8 of them.
  CHECK(causal.products * 32 == full.products * 20);
}

TEST_CASE("launch: no two rows of a matrix load lie in the same banks") {
  for (std::int64_t dim : {64, 96, 128, 256}) {
    const auto found = counted([&] {
      const AttentionCase sizes{1, 70, 70, 2, 1, dim, true};
      CHECK(check_attention_bwd(sizes, kBFloat16, 5) == "");
    });
    CHECK(found.matrix_loads > 0);
    CHECK(found.matrix_conflicts == 0);
  }
}

TEST_CASE("launch: a head dim beyond the kernels is refused") {
  AttentionCall call({1, 2, 2, 1, 1, 257}, kFloat16);
  CHECK(call.run() == FLASH_REF_BAD_SHAPE);
  CHECK(flash_ref_last_error() ==
        std::string("flash_ref_attention_fwd: q has dim 257; expected 256 at most on a CUDA device"));
}

TEST_CASE("launch: a missing or small workspace is refused with what is needed, before anything is written") {
  const AttentionCase sizes{1, 20, 30, 2, 1, 64};
  std::mt19937 random(5);
  AttentionBwdCall call(sizes, kFloat16);
  const auto inputs = random_inputs(sizes, kFloat16, random);
  call.fill(inputs, random_values(random, inputs.q.size(), kFloat16));
  REQUIRE(call.forward.run() == FLASH_REF_OK);
  const auto before = call.dq.memory();
  const auto run = [&](void* workspace, std::size_t bytes) {
    flash_ref_attention_options options = call.forward.options();
    options.workspace = workspace;
    options.workspace_bytes = bytes;
    AttentionCall& f = call.forward;
    return flash_ref_attention_bwd(&f.q, &f.k, &f.v, &f.out, &f.lse, &call.dout, &call.dq, &call.dk, &call.dv,
                                   &options);
  };
  CHECK(run(nullptr, 0) == FLASH_REF_BAD_WORKSPACE);
  CHECK(flash_ref_last_error() ==
        std::string("flash_ref_attention_bwd: options.workspace_bytes is 0; on a CUDA "
                    "device, expected at least 335"));
  CHECK(call.dq.memory() == before);
  TestTensor memory({335}, kBool);
  CHECK(run(memory.tensor().data, 319) == FLASH_REF_BAD_WORKSPACE);
  CHECK(run(memory.tensor().data, 335) == FLASH_REF_OK);
  CHECK(memory.guards_intact());
  CHECK(call.dq.memory() != before);
}

TEST_CASE("launch: offsets that lie reach nothing beyond the tensors") {
  TestTensor q({7, 2, 32}, kFloat16), k({11, 2, 32}, kFloat16), v({11, 2, 32}, kFloat16),
      out({7, 2, 32}, kFloat16), lse({2, 7}, kFloat32), cu_q({3}, kInt32), cu_k({3}, kInt32);
  std::mt19937 random(6);
  const auto fill = [&](TestTensor& tensor) { tensor.set(random_values(random, tensor.size(), kFloat16)); };
  fill(q);
  fill(k);
  fill(v);
  const std::uint32_t wrong[] = {0, 1, 5, 9, 0xffffffffU, 0x7fffffffU, 0x80000000U};
  for (int i = 0; i < 200; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      cu_q.set_bits(j, wrong[random() % 7]);
      cu_k.set_bits(j, wrong[random() % 7]);
    }
    flash_ref_attention_options options{};
    REQUIRE(flash_ref_attention_varlen_fwd(&q, &k, &v, &cu_q, &cu_k, &out, &lse, &options) == FLASH_REF_OK);
    REQUIRE((out.guards_intact() && lse.guards_intact()));
  }
}
