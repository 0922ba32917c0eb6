// Attention of whole sequences, forward and backward, and the memory that it takes.
#include <sys/resource.h>

#include <string>

#include "tests/bench/kernels/arrays.h"
#include "tests/bench/kernels/measure.h"
#include "tests/bench/kernels/report.h"
#ifdef FLASH_REF_BENCH_TORCH
#include "tests/bench/kernels/torch_attention.h"
#endif

namespace bench {
namespace {

// The tensors of one case; backward needs what forward stored.
struct Prefill {
  Prefill(std::int64_t heads, std::int64_t seq, std::int64_t dim, bool causal) {
    for (Array* array : {&q, &k, &v, &dout, &out, &dq, &dk, &dv})
      array->resize({1, seq, heads, dim}, kBFloat16);
    lse.resize({1, heads, seq}, kFloat32);
    q.fill_bfloat16(1), k.fill_bfloat16(2), v.fill_bfloat16(3), dout.fill_bfloat16(4);
    options.struct_size = sizeof options;
    options.causal = causal ? 1 : 0;
  }

  void forward() {
    require(flash_ref_attention_fwd(&q.tensor, &k.tensor, &v.tensor, &out.tensor, &lse.tensor, &options));
  }
  void backward() {
    require(flash_ref_attention_bwd(&q.tensor, &k.tensor, &v.tensor, &out.tensor, &lse.tensor, &dout.tensor,
                                    &dq.tensor, &dk.tensor, &dv.tensor, &options));
  }

  Array q, k, v, dout, out, dq, dk, dv, lse;
  flash_ref_attention_options options{};
};

void print(const char* what, std::int64_t dim, std::int64_t seq, bool causal, double flops, double peak,
           const std::vector<Rival>& rivals) {
  const double rate = flops / rivals[0].best;
  std::printf("%-4s dim %3d  tokens %5d  %-6s %7.1f GFLOP/s  %5.1f %% of peak  median %+5.1f %%", what,
              static_cast<int>(dim), static_cast<int>(seq), causal ? "causal" : "full", rate / 1e9,
              100 * rate / peak, rivals[0].median_distance());
  for (std::size_t i = 1; i < rivals.size(); ++i) {
    std::printf("  %s %6.1f ratio %5.2f median %+5.1f %%", rivals[i].name.c_str(),
                flops / rivals[i].best / 1e9, rivals[i].best / rivals[0].best, rivals[i].median_distance());
  }
  std::printf("\n");
  std::fflush(stdout);
}

void one(const Settings& settings, TorchProcess& torch, std::int64_t dim, std::int64_t seq, bool causal,
         double peak) {
  const std::int64_t heads = seq >= 4096 ? 2 : 8;
  Prefill tensors(heads, seq, dim, causal);
  std::vector<Rival> forward = {{"flash_ref", [&] { tensors.forward(); }}};
  std::vector<Rival> backward = {{"flash_ref", [&] { tensors.backward(); }}};
#ifdef FLASH_REF_BENCH_TORCH
  forward.push_back({"libtorch " + torch_version(),
                     torch_attention(tensors.q, tensors.k, tensors.v, causal, settings.threads)});
#endif
  if (!torch.version().empty()) {
    torch.set_tensors(tensors.q, tensors.k, tensors.v, causal);
    forward.push_back({"PyTorch " + torch.version(), {}, [&] { return torch.run("fwd"); }});
    backward.push_back({"PyTorch " + torch.version(), {}, [&] { return torch.run("bwd"); }});
  }
  const double n = static_cast<double>(seq), scores = causal ? n * (n + 1) / 2 : n * n;
  const double product = 2.0 * static_cast<double>(dim * heads) * scores;
  take_turns(forward, 5, 1.0);
  print("fwd", dim, seq, causal, 2 * product, peak, forward);
  take_turns(backward, 5, 1.0);
  print("bwd", dim, seq, causal, 5 * product, peak, backward);
}

// Kilobytes that the process has had at most.
long highest_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

}  // namespace

void prefill(const Settings& settings) {
  TorchProcess torch(settings.threads, settings.cpu_time);
  if (torch.version().empty()) std::printf("no PyTorch 2.13 to compare with: no %s\n", BENCH_TORCH_PYTHON);
  const double fma = peak_of_fma(settings.threads), dot = peak_of_bf16_dot(settings.threads);
  const double peak = fma > dot ? fma : dot;
  std::printf("peak: float32 FMA %.1f GFLOP/s, bfloat16 dot product %.1f GFLOP/s\n", fma / 1e9, dot / 1e9);
  for (std::int64_t dim : {64, 128}) {
    for (std::int64_t seq = 512; seq <= settings.longest; seq *= 2) {
      for (bool causal : {false, true}) one(settings, torch, dim, seq, causal, peak);
    }
  }
}

void memory(const Settings&) {
  for (std::int64_t seq : {2048, 32768}) {
    Prefill tensors(1, seq, 64, true);
    std::size_t bytes = 0;
    require(flash_ref_attention_fwd_workspace(&tensors.q.tensor, &tensors.k.tensor, &tensors.v.tensor,
                                              &tensors.options, &bytes));
    const long before = highest_kilobytes();
    tensors.forward();
    std::printf("memory   tokens %5d  workspace %zu KiB, resident set grows by %ld KiB\n",
                static_cast<int>(seq), bytes / 1024, highest_kilobytes() - before);
  }
}

}  // namespace bench
