// How work is spread over threads: by OpenMP where the compiler has it, else not at all. Small calls stay on
// the calling thread, which keeps them cheap and keeps a program that forks free of a thread pool it never
// needed.
#pragma once

#include <algorithm>
#include <cstdint>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace flash_ref::cpu {

// `work` in multiply-adds or elements; `pieces` that can run at the same time.
inline int useful_threads([[maybe_unused]] double work, [[maybe_unused]] std::int64_t pieces) {
#ifdef _OPENMP
  constexpr double kWorkOfAThread = 1 << 18;
  if (work < 2 * kWorkOfAThread || omp_in_parallel() != 0) return 1;
  const double wanted = std::min({work / kWorkOfAThread, static_cast<double>(pieces), 4096.0});
  return std::clamp(static_cast<int>(wanted), 1, omp_get_max_threads());
#else
  return 1;
#endif
}

inline int thread_number() {
#ifdef _OPENMP
  return omp_get_thread_num();
#else
  return 0;
#endif
}

}  // namespace flash_ref::cpu
