// What only a device shows: calls go to the stream of the options and can be captured in a graph.
#include <cuda_runtime_api.h>

#include "tests/accuracy/attention_bwd_run.h"
#include "tests/accuracy/kvcache_run.h"
#include "tests/catch.h"

using namespace flash_ref_test;
using flash_ref::reference::AttentionCase;
using flash_ref::reference::KvCacheCase;

namespace {

// What `body` puts on a stream, captured and run twice.
template <class Body>
void replay(const Body& body) {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  body(stream);
  REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  REQUIRE(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
  for (int i = 0; i < 2; ++i) REQUIRE(cudaGraphLaunch(executable, stream) == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}

}  // namespace

TEST_CASE("a captured forward and backward gives the bits of a call") {
  const AttentionCase sizes{2, 200, 300, 4, 2, 128, true};
  std::mt19937 random(3);
  AttentionBwdCall direct(sizes, kBFloat16), captured(sizes, kBFloat16);
  const auto inputs = random_inputs(sizes, kBFloat16, random);
  const auto dout = random_values(random, inputs.q.size(), kBFloat16);
  direct.fill(inputs, dout);
  captured.fill(inputs, dout);
  REQUIRE(direct.run() == FLASH_REF_OK);
  flash_ref_attention_options options = captured.forward.options();
  AttentionCall& f = captured.forward;
  const auto workspace = device_workspace(options, [&](std::size_t* bytes) {
    return flash_ref_attention_bwd_workspace(&f.q, &f.k, &f.v, &options, bytes);
  });
  replay([&](cudaStream_t stream) {
    options.stream = stream;
    CHECK(flash_ref_attention_fwd(&f.q, &f.k, &f.v, &f.out, &f.lse, &options) == FLASH_REF_OK);
    CHECK(flash_ref_attention_bwd(&f.q, &f.k, &f.v, &f.out, &f.lse, &captured.dout, &captured.dq,
                                  &captured.dk, &captured.dv, &options) == FLASH_REF_OK);
  });
  CHECK(f.out.memory() == direct.forward.out.memory());
  CHECK(captured.dq.memory() == direct.dq.memory());
  CHECK(captured.dk.memory() == direct.dk.memory());
  CHECK(captured.dv.memory() == direct.dv.memory());
}

TEST_CASE("captured decoding reads lengths when the graph runs, not when it was captured") {
  const KvCacheCase sizes{1, 0, 8, 2, 64, 2000, {5, 5}};
  std::mt19937 random(4);
  KvCacheCase longer = sizes;
  longer.cached = {1900, 700};
  const auto inputs = random_inputs(longer, kFloat16, random);
  KvCacheCall direct(longer, kFloat16), captured(sizes, kFloat16);
  direct.fill(inputs);
  captured.fill(inputs);
  REQUIRE(direct.run() == FLASH_REF_OK);
  flash_ref_kvcache_options options = captured.options();
  const auto workspace = device_workspace(options, [&](std::size_t* bytes) {
    return flash_ref_attention_kvcache_workspace(&captured.q, &captured.k_cache, &captured.v_cache, nullptr,
                                                 nullptr, nullptr, nullptr, &captured.seqlens, nullptr,
                                                 nullptr, &options, bytes);
  });
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  options.stream = stream;
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  CHECK(flash_ref_attention_kvcache(&captured.q, &captured.k_cache, &captured.v_cache, nullptr, nullptr,
                                    nullptr, nullptr, &captured.seqlens, nullptr, nullptr, &captured.out,
                                    &captured.lse, &options) == FLASH_REF_OK);
  REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  REQUIRE(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
  for (std::size_t b = 0; b < 2; ++b)
    captured.seqlens.set_bits(b, static_cast<std::uint32_t>(longer.cached[b]));
  captured.k_cache.set(inputs.k_cache);
  captured.v_cache.set(inputs.v_cache);
  REQUIRE(cudaGraphLaunch(executable, stream) == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(captured.out.memory() == direct.out.memory());
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}
