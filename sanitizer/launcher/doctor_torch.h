// What doctor says of the PyTorch of a process: which one it is and what of it is watched, or would be.
#pragma once

#include <string>
#include <vector>

namespace dtype_guard::san {

struct TorchDiagnosis {
  bool can_be_watched = false;
  std::string text;      // which PyTorch, and whether it is watched
  std::string not_seen;  // what is not seen of it
};

// `file` is libtorch_cpu.so as it can be opened here, `name` as the process has it. `journals` are those of a
// process that has the library already: what its source says of itself counts.
bool is_torch(const std::string& name);
TorchDiagnosis diagnose_torch(const std::string& name, const std::string& file,
                              const std::vector<std::string>& journals);

}  // namespace dtype_guard::san
