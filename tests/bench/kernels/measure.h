// How the benchmarks measure: rivals take turns, so that a slow moment of the machine meets all of them, and
// each is judged by its best time; the median says how far from it an ordinary run was.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/bench/kernels/arrays.h"

namespace bench {

struct Rival {
  std::string name;
  std::function<void()> run;
  std::function<double()> timed = {};  // instead of run: times itself, in seconds
  double best = 0, median = 0;         // seconds

  // How far an ordinary run was from the best one, in percent.
  double median_distance() const { return 100 * (median / best - 1); }
};

// From now on time is that of the process's processors divided by their number, waiting threads included: for
// a machine that others use as well.
void measure_cpu_time();

// At least `rounds` turns of each, and not many more than fit into `seconds`.
void take_turns(std::vector<Rival>& rivals, int rounds, double seconds);

// Multiply-adds per second, times two, of independent fused multiply-adds in registers, by the widest vectors
// of the machine, on `threads` threads; and of bfloat16 dot products, 0 where the machine has none.
double peak_of_fma(int threads);
double peak_of_bf16_dot(int threads);

// A loop that reads all of a buffer and nothing else, each thread its share.
class ReadStream {
 public:
  ReadStream(int threads, std::size_t bytes);
  void run() const;

 private:
  int threads_;
  Memory memory_;
};

}  // namespace bench
