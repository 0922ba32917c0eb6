// bench_kernels: the figures of flash_ref on this machine, each beside what the machine can do, from one run.
//   bench_kernels [--threads N] [--longest TOKENS] [--cpu-time] [prefill|memory|decode|rotary|rwkv7]...
#include <omp.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/bench/kernels/arrays.h"
#include "tests/bench/kernels/measure.h"
#include "tests/bench/kernels/report.h"
#ifdef FLASH_REF_BENCH_TORCH
#include "tests/bench/kernels/torch_attention.h"
#endif

namespace {

using bench::Array;
using bench::require;
using bench::Rival;
using bench::Settings;

// What a step of decoding with a cache reads, 128 MiB of K and V, against a loop that only reads as many
// bytes.
void decode(const Settings& settings, std::int64_t dim, std::int64_t group, DLDataType dtype,
            const char* name) {
  const std::int64_t kv_heads = 4, seq_k = (std::int64_t{128} << 20) / (kv_heads * dim * 2 * 2);
  Array q({1, 1, kv_heads * group, dim}, dtype), k({1, seq_k, kv_heads, dim}, dtype),
      v({1, seq_k, kv_heads, dim}, dtype), out({1, 1, kv_heads * group, dim}, dtype),
      new_k({1, 1, kv_heads, dim}, dtype), new_v({1, 1, kv_heads, dim}, dtype), length({1}, bench::kInt32);
  for (Array* array : {&q, &k, &v, &new_k, &new_v}) array->fill_bfloat16(1);
  *reinterpret_cast<std::int32_t*>(length.memory.data()) = static_cast<std::int32_t>(seq_k - 1);
  const std::size_t bytes = k.memory.size() + v.memory.size();
  const bench::ReadStream stream(settings.threads, bytes);
  std::vector<Rival> rivals = {
      {"decode",
       [&] {
         require(flash_ref_attention_kvcache(&q.tensor, &k.tensor, &v.tensor, &new_k.tensor, &new_v.tensor,
                                             nullptr, nullptr, &length.tensor, nullptr, nullptr, &out.tensor,
                                             nullptr, nullptr));
       }},
      {"stream", [&] { stream.run(); }}};
  bench::take_turns(rivals, 8, 1.0);
  const auto moved = static_cast<double>(bytes);
  std::printf(
      "decode   dim %3d  group %d  %-9s %6.2f GB/s  median %+5.1f %%  %5.1f %% of a read-only stream (%.2f "
      "GB/s, "
      "median %+5.1f %%; aim 85 %%)\n",
      static_cast<int>(dim), static_cast<int>(group), name, moved / rivals[0].best / 1e9,
      rivals[0].median_distance(), 100 * rivals[1].best / rivals[0].best, moved / rivals[1].best / 1e9,
      rivals[1].median_distance());
  std::fflush(stdout);
}

void copy(const Settings& settings, const Array& from, Array& to) {
  const long count = static_cast<long>(from.memory.size() / 64);
#pragma omp parallel for num_threads(settings.threads)
  for (long i = 0; i < count; ++i) {
    typedef long Line __attribute__((vector_size(64), aligned(8)));
    *reinterpret_cast<Line*>(to.memory.data() + 64 * i) =
        *reinterpret_cast<const Line*>(from.memory.data() + 64 * i);
  }
}

void rotary(const Settings& settings, bool interleaved, DLDataType dtype, const char* name) {
  const std::int64_t seq = 8192, heads = 32, dim = 128;
  Array x({1, seq, heads, dim}, dtype), out({1, seq, heads, dim}, dtype), cos({seq, dim / 2}, dtype),
      sin({seq, dim / 2}, dtype);
  x.fill_bfloat16(1), cos.fill_bfloat16(2), sin.fill_bfloat16(3);
  flash_ref_rotary_options options{};
  options.struct_size = sizeof options;
  options.interleaved = interleaved ? 1 : 0;
  std::vector<Rival> rivals = {
      {"rotary",
       [&] { require(flash_ref_rotary(&x.tensor, &cos.tensor, &sin.tensor, &out.tensor, &options)); }},
      {"copy", [&] { copy(settings, x, out); }}};
  bench::take_turns(rivals, 10, 1.0);
  const double bytes = 2 * static_cast<double>(x.memory.size());
  std::printf(
      "rotary   %-9s %-11s %6.2f GB/s  median %+5.1f %%  %5.1f %% of a copy loop (%.2f GB/s, median %+5.1f "
      "%%; aim 80 "
      "%%)\n",
      name, interleaved ? "interleaved" : "halves", bytes / rivals[0].best / 1e9, rivals[0].median_distance(),
      100 * rivals[1].best / rivals[0].best, bytes / rivals[1].best / 1e9, rivals[1].median_distance());
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  settings.threads = omp_get_max_threads();
  std::string parts;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--threads") == 0 && i + 1 < argc) {
      settings.threads = std::atoi(argv[++i]);
    } else if (std::strcmp(argv[i], "--longest") == 0 && i + 1 < argc) {
      settings.longest = std::atoi(argv[++i]);
    } else if (std::strcmp(argv[i], "--cpu-time") == 0) {
      settings.cpu_time = true;
      bench::measure_cpu_time();
    } else {
      parts += argv[i];
    }
  }
  const auto wanted = [&](const char* part) {
    return parts.empty() || parts.find(part) != std::string::npos;
  };
  if (settings.threads < 1 || settings.longest < 1) {
    std::fprintf(stderr,
                 "usage: bench_kernels [--threads N] [--longest TOKENS] [--cpu-time] "
                 "[prefill|memory|decode|rotary|rwkv7]...\n");
    return 2;
  }
  omp_set_num_threads(settings.threads);
  const char* isa = std::getenv("FLASH_REF_ISA");
  std::printf("threads %d, FLASH_REF_ISA %s", settings.threads, isa == nullptr ? "not set" : isa);
#ifdef FLASH_REF_BENCH_TORCH
  std::printf(", libtorch %s", bench::torch_version().c_str());
#endif
  std::printf("\n");
  if (wanted("memory")) bench::memory(settings);  // first: what was resident once stays in the highest mark
  if (wanted("prefill")) bench::prefill(settings);
  if (wanted("decode")) {
    for (std::int64_t dim : {64, 128}) {
      for (std::int64_t group : {1, 4}) {
        decode(settings, dim, group, bench::kBFloat16, "bfloat16");
        decode(settings, dim, group, bench::kFloat16, "float16");
      }
    }
  }
  if (wanted("rotary")) {
    for (bool interleaved : {false, true}) {
      rotary(settings, interleaved, bench::kBFloat16, "bfloat16");
      rotary(settings, interleaved, bench::kFloat16, "float16");
      rotary(settings, interleaved, bench::kFloat32, "float32");
    }
  }
  omp_set_num_threads(1);
  if (wanted("rwkv7")) bench::rwkv7();
  return 0;
}
