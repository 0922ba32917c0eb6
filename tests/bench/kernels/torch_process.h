// PyTorch 2.13 as a rival, in a Python process that times itself (torch_process.py). There is none where the
// build knows no such Python.
#pragma once

#include <cstdio>
#include <string>

#include "tests/bench/kernels/arrays.h"

namespace bench {

class TorchProcess {
 public:
  TorchProcess(int threads, bool cpu_time);
  ~TorchProcess();
  TorchProcess(const TorchProcess&) = delete;
  TorchProcess& operator=(const TorchProcess&) = delete;

  // PyTorch's, or "" where there is no process.
  const std::string& version() const { return version_; }

  void set_tensors(const Array& q, const Array& k, const Array& v, bool causal);

  // Seconds of one call; `what` is "fwd" or "bwd".
  double run(const char* what);

 private:
  std::string read_line();

  std::FILE *to_ = nullptr, *from_ = nullptr;
  int process_ = -1;
  std::string version_;
};

}  // namespace bench
