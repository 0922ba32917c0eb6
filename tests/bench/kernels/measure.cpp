#include "tests/bench/kernels/measure.h"

#include <omp.h>
#include <time.h>

#include <algorithm>
#include <chrono>

namespace bench {
namespace {

bool of_cpu = false;

double now() {
  if (of_cpu) {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec)) /
           omp_get_max_threads();
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

void measure_cpu_time() { of_cpu = true; }

namespace {

double time_of(Rival& rival) {
  if (rival.timed) return rival.timed();
  const double before = now();
  rival.run();
  return now() - before;
}

}  // namespace

void take_turns(std::vector<Rival>& rivals, int rounds, double seconds) {
  std::vector<std::vector<double>> times(rivals.size());
  for (Rival& rival : rivals) time_of(rival);  // first touch, thread pools, caches
  double spent = 0;
  for (int round = 0; round < rounds || (spent < seconds && round < 400); ++round) {
    for (std::size_t i = 0; i < rivals.size(); ++i) {
      times[i].push_back(time_of(rivals[i]));
      spent += times[i].back();
    }
  }
  for (std::size_t i = 0; i < rivals.size(); ++i) {
    std::sort(times[i].begin(), times[i].end());
    rivals[i].best = times[i].front();
    rivals[i].median = times[i][times[i].size() / 2];
  }
}

double best_rate(int threads, double work_of_thread, const std::function<void()>& body) {
  double best = 0;
  for (int round = 0; round < 30; ++round) {
    const double before = now();
#pragma omp parallel num_threads(threads)
    body();
    best = std::max(best, work_of_thread * threads / (now() - before));
  }
  return best;
}

#if defined(__x86_64__)

typedef float Vec16 __attribute__((vector_size(64)));
typedef float Vec8 __attribute__((vector_size(32)));

constexpr long kSteps = 1 << 20;

__attribute__((target("avx512f"))) void fma_512() {
  Vec16 sums[12] = {};
  Vec16 a = {}, b = {};
  a += 0.5F;
  b += 0.25F;
  for (long i = 0; i < kSteps; ++i) {
    for (int j = 0; j < 12; ++j) __asm__ volatile("vfmadd231ps %1, %2, %0" : "+v"(sums[j]) : "v"(a), "v"(b));
  }
}

__attribute__((target("avx2,fma"))) void fma_256() {
  Vec8 sums[12] = {};
  Vec8 a = {}, b = {};
  for (long i = 0; i < kSteps; ++i) {
    for (int j = 0; j < 12; ++j) __asm__ volatile("vfmadd231ps %1, %2, %0" : "+x"(sums[j]) : "x"(a), "x"(b));
  }
}

__attribute__((target("avx512f"))) void dot_512() {
  Vec16 sums[12] = {};
  Vec16 a = {}, b = {};
  for (long i = 0; i < kSteps; ++i) {
    for (int j = 0; j < 12; ++j) __asm__ volatile("vdpbf16ps %1, %2, %0" : "+v"(sums[j]) : "v"(a), "v"(b));
  }
}

double peak_of_fma(int threads) {
  if (__builtin_cpu_supports("avx512f")) return best_rate(threads, 12.0 * kSteps * 32, fma_512);
  if (__builtin_cpu_supports("fma")) return best_rate(threads, 12.0 * kSteps * 16, fma_256);
  return 0;
}

double peak_of_bf16_dot(int threads) {
  if (!__builtin_cpu_supports("avx512bf16")) return 0;
  return best_rate(threads, 12.0 * kSteps * 64, dot_512);
}

#else

double peak_of_fma(int) { return 0; }
double peak_of_bf16_dot(int) { return 0; }

#endif

ReadStream::ReadStream(int threads, std::size_t bytes) : threads_(threads), memory_(bytes) {
  std::fill_n(memory_.data(), bytes, static_cast<unsigned char>(1));
}

void ReadStream::run() const {
  typedef long Words __attribute__((vector_size(64), aligned(8)));
  const std::size_t share = memory_.size() / sizeof(long) / static_cast<std::size_t>(threads_) / 32 * 32;
#pragma omp parallel num_threads(threads_)
  {
    const long* from = reinterpret_cast<const long*>(memory_.data()) +
                       static_cast<std::size_t>(omp_get_thread_num()) * share;
    Words sums[4] = {};
    for (std::size_t i = 0; i < share; i += 32) {
      for (std::size_t j = 0; j < 4; ++j) sums[j] |= *reinterpret_cast<const Words*>(from + i + 8 * j);
    }
    const Words all = sums[0] | sums[1] | sums[2] | sums[3];
    __asm__ volatile("" : : "r"(all[0] + all[7]));
  }
}

}  // namespace bench
