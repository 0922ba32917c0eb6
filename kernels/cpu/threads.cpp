#include "kernels/cpu/threads.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

#ifdef _OPENMP
#include <dlfcn.h>
#include <omp.h>
#include <unistd.h>
#endif

namespace flash_ref::cpu {
namespace {

// Threads that live for one call.
void run_short_lived(std::int64_t pieces, int count, threads::Body body, void* context) {
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

#ifdef _OPENMP
const pid_t loading_process = getpid();

// The run-time library may have a pool of threads, made by any code of the process, that a fork did not copy.
bool is_forked() { return getpid() != loading_process; }

// The pool's threads wait in the run-time library's code, which would go with this library when that is
// closed.
bool keep_runtime_library() {
  Dl_info library{};
  return dladdr(reinterpret_cast<void*>(omp_get_max_threads), &library) != 0 &&
         library.dli_fname != nullptr &&
         dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) != nullptr;
}
#endif

}  // namespace

#ifdef _OPENMP
int useful_threads(double work, std::int64_t pieces) {
  constexpr double kWorkOfAThread = 1 << 18, kWorkOfAShortLivedThread = 1 << 20;
  if (work < 2 * kWorkOfAThread || pieces < 2 || omp_in_parallel() != 0) return 1;
  const double least = is_forked() ? kWorkOfAShortLivedThread : kWorkOfAThread;
  const double wanted = std::min({work / least, static_cast<double>(pieces), 4096.0});
  return std::clamp(static_cast<int>(wanted), 1, omp_get_max_threads());
}

void threads::run(std::int64_t pieces, int count, Body body, void* context) {
  if (count <= 1) {
    for (std::int64_t piece = 0; piece < pieces; ++piece) body(context, piece, 0);
    return;
  }
  if (is_forked()) return run_short_lived(pieces, count, body, context);
  [[maybe_unused]] static const bool kept = keep_runtime_library();
#pragma omp parallel for num_threads(count) schedule(dynamic)
  for (std::int64_t piece = 0; piece < pieces; ++piece) body(context, piece, omp_get_thread_num());
}
#else
int useful_threads(double work, std::int64_t pieces) {
  constexpr double kWorkOfAThread = 1 << 20;
  const double wanted = std::min({work / kWorkOfAThread, static_cast<double>(pieces), 4096.0});
  return std::clamp(static_cast<int>(wanted), 1,
                    std::max(static_cast<int>(std::thread::hardware_concurrency()), 1));
}

void threads::run(std::int64_t pieces, int count, Body body, void* context) {
  run_short_lived(pieces, count, body, context);
}
#endif

}  // namespace flash_ref::cpu
