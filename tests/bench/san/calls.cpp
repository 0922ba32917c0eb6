// calls THREADS [wrong]: the time of a call of flash_ref_rotary in nanoseconds of processor time,
// per thread a low one (5 %) of many batches, and of those the median. "wrong" times calls that break the
// contract, and "places N" the first of each of N kinds. "memory" prints the peak in KiB.
#include <flash_ref/flash_ref.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

double processor_ns() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

struct Arguments {
  std::uint32_t memory[3][512];
  std::int64_t shape[4] = {1, 8, 4, 16}, table[2] = {8, 8};
  DLTensor x = {}, cos = {}, sin = {};

  explicit Arguments(std::uint32_t seed) {
    for (auto& one : memory)
      for (std::uint32_t& word : one) word = 0x3c003c00U + (seed = seed * 1664525U + 1013904223U) % 997U;
    int data = 0;
    for (DLTensor* tensor : {&x, &cos, &sin}) {
      tensor->data = memory[data++];
      tensor->device.device_type = static_cast<decltype(x.device.device_type)>(1);
      tensor->dtype = {4, 16, 1};
      tensor->ndim = tensor == &x ? 4 : 2;
      tensor->shape = tensor == &x ? shape : table;
    }
  }
};

double best_of_batches(Arguments& arguments, int batches, int calls) {
  std::vector<double> out(1024);
  DLTensor written = arguments.x;
  written.data = out.data();
  std::vector<double> times;
  for (int batch = 0; batch < batches; ++batch) {
    double start = processor_ns();
    for (int i = 0; i < calls; ++i)
      flash_ref_rotary(&arguments.x, &arguments.cos, &arguments.sin, &written, nullptr);
    times.push_back((processor_ns() - start) / calls);
  }
  // Not the smallest: the clock of a virtual machine jumps now and then.
  std::sort(times.begin(), times.end());
  return times[times.size() / 20];
}

void time_places(int count) {
  Arguments arguments(1);
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    arguments.cos.dtype = {2, 16, static_cast<std::uint16_t>(i + 2)};
    double start = processor_ns();
    flash_ref_rotary(&arguments.x, &arguments.cos, &arguments.sin, &arguments.x, nullptr);
    times.push_back(processor_ns() - start);
  }
  double first = times.front();
  std::sort(times.begin() + 1, times.end());
  std::printf("%.1f %.1f\n", first, times[times.size() / 2]);
}

// The peak of this process's memory in KiB, after right and wrong calls.
void print_memory() {
  Arguments arguments(1);
  best_of_batches(arguments, 2, 100);
  arguments.cos.dtype = {2, 32, 1};
  best_of_batches(arguments, 2, 100);
  char line[256];
  long peak = 0;
  std::FILE* status = std::fopen("/proc/self/status", "r");
  while (std::fgets(line, sizeof line, status) != nullptr)
    if (std::sscanf(line, "VmHWM: %ld", &peak) == 1) break;
  std::fclose(status);
  std::printf("%ld\n", peak);
}

}  // namespace

int main(int argc, char** argv) {
  int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  if (argc > 3 && std::strcmp(argv[2], "places") == 0) {
    time_places(std::atoi(argv[3]));
    return 0;
  }
  if (argc > 2 && std::strcmp(argv[2], "memory") == 0) {
    print_memory();
    return 0;
  }
  bool wrong = argc > 2 && std::strcmp(argv[2], "wrong") == 0;
  std::vector<double> best(static_cast<std::size_t>(threads));
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      Arguments arguments(static_cast<std::uint32_t>(t) + 1);
      if (wrong) arguments.cos.dtype = {2, 32, 1};
      best[static_cast<std::size_t>(t)] = best_of_batches(arguments, threads > 1 ? 200 : 400, 2000);
    });
  for (std::thread& one : running) one.join();
  std::sort(best.begin(), best.end());
  std::printf("%.2f\n", best[best.size() / 2]);
  return 0;
}
