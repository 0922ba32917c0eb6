// What the parts of the benchmark share: the settings of the run, and how a failed call ends it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "flash_ref/flash_ref.h"
#include "tests/bench/kernels/torch_process.h"

namespace bench {

struct Settings {
  int threads = 1;
  std::int64_t longest = 8192;
  bool cpu_time = false;
};

inline void require(int status) {
  if (status == FLASH_REF_OK) return;
  std::fprintf(stderr, "bench_kernels: %s\n", flash_ref_last_error());
  std::exit(1);
}

// Prefill, forward and backward, against the machine's peak and both libtorches.
void prefill(const Settings& settings);

// The resident memory that a forward call over 32,768 tokens adds.
void memory(const Settings& settings);

// RWKV-7, forward and backward, on one thread.
void rwkv7();

}  // namespace bench
