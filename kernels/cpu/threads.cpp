#include "kernels/cpu/threads.h"

#include <algorithm>
#include <atomic>

#ifdef _OPENMP
#include <omp.h>
#include <unistd.h>
#else
#include <system_error>
#include <thread>
#include <vector>
#endif

namespace flash_ref::cpu {

#ifdef _OPENMP
namespace {

std::atomic<pid_t> owner_of_pool{0};  // the process that first used threads; 0: none yet

bool pool_was_lost_by_fork() {
  const pid_t process = getpid();
  pid_t owner = 0;
  return !owner_of_pool.compare_exchange_strong(owner, process) && owner != process;
}

}  // namespace

int useful_threads(double work, std::int64_t pieces) {
  constexpr double kWorkOfAThread = 1 << 18;
  if (work < 2 * kWorkOfAThread || pieces < 2 || omp_in_parallel() != 0) return 1;
  const double wanted = std::min({work / kWorkOfAThread, static_cast<double>(pieces), 4096.0});
  const int threads = std::clamp(static_cast<int>(wanted), 1, omp_get_max_threads());
  return threads > 1 && pool_was_lost_by_fork() ? 1 : threads;
}

void threads::run(std::int64_t pieces, int count, Body body, void* context) {
  if (count <= 1) {
    for (std::int64_t piece = 0; piece < pieces; ++piece) body(context, piece, 0);
    return;
  }
#pragma omp parallel for num_threads(count) schedule(dynamic)
  for (std::int64_t piece = 0; piece < pieces; ++piece) body(context, piece, omp_get_thread_num());
}
#else
int useful_threads(double work, std::int64_t pieces) {
  constexpr double kWorkOfAThread = 1 << 20;  // these threads live for one call
  const double wanted = std::min({work / kWorkOfAThread, static_cast<double>(pieces), 4096.0});
  return std::clamp(static_cast<int>(wanted), 1,
                    std::max(static_cast<int>(std::thread::hardware_concurrency()), 1));
}

void threads::run(std::int64_t pieces, int count, Body body, void* context) {
  std::atomic<std::int64_t> next{0};
  const auto work = [&](int thread) {
    for (std::int64_t piece = next++; piece < pieces; piece = next++) body(context, piece, thread);
  };
  std::vector<std::thread> others;
  try {
    for (int thread = 1; thread < count; ++thread) others.emplace_back(work, thread);
  } catch (const std::system_error&) {
    // Then there are fewer.
  }
  work(0);
  for (std::thread& other : others) other.join();
}
#endif

}  // namespace flash_ref::cpu
