#include "tests/bench/kernels/torch_process.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace bench {

TorchProcess::TorchProcess(int threads, bool cpu_time) {
  const std::string count = std::to_string(threads);
  int down[2], up[2];
  if (access(BENCH_TORCH_PYTHON, X_OK) != 0 || pipe(down) != 0 || pipe(up) != 0) return;
  signal(SIGPIPE, SIG_IGN);
  process_ = fork();
  if (process_ == 0) {
    dup2(down[0], 0);
    dup2(up[1], 1);
    for (int end : {down[0], down[1], up[0], up[1]}) close(end);
    execl(BENCH_TORCH_PYTHON, BENCH_TORCH_PYTHON, BENCH_TORCH_PROCESS, count.c_str(),
          cpu_time ? "cpu" : "wall", static_cast<char*>(nullptr));
    _exit(127);
  }
  close(down[0]);
  close(up[1]);
  to_ = fdopen(down[1], "w");
  from_ = fdopen(up[0], "r");
  version_ = read_line();
}

TorchProcess::~TorchProcess() {
  if (to_ != nullptr) std::fclose(to_);
  if (from_ != nullptr) std::fclose(from_);
  if (process_ > 0) waitpid(process_, nullptr, 0);
}

std::string TorchProcess::read_line() {
  char line[128] = "";
  if (std::fgets(line, sizeof line, from_) == nullptr) return "";
  std::string text = line;
  text.pop_back();
  return text;
}

void TorchProcess::set_tensors(const Array& q, const Array& k, const Array& v, bool causal) {
  std::fprintf(to_, "tensors %ld %ld %ld %d\n", static_cast<long>(q.shape[2]), static_cast<long>(q.shape[1]),
               static_cast<long>(q.shape[3]), causal ? 1 : 0);
  for (const Array* array : {&q, &k, &v}) std::fwrite(array->memory.data(), 1, array->memory.size(), to_);
  std::fflush(to_);
  if (read_line() == "ready") return;
  std::fprintf(stderr, "bench_kernels: PyTorch's process gave up\n");
  std::exit(1);
}

double TorchProcess::run(const char* what) {
  std::fprintf(to_, "%s\n", what);
  std::fflush(to_);
  return std::atof(read_line().c_str());
}

}  // namespace bench
