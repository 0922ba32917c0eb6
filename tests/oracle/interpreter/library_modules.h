// Library modules as PyTorch has them: what they hold when they are made, and the operator that their forward
// is. It is said here once more, apart from the analyser's table, so that the one is held against the other.
#pragma once

#include <string_view>
#include <vector>

namespace dtype_guard::oracle {

struct LibraryModule {
  struct Held {
    std::string_view name;
    int rank = 0;
    bool is_buffer = false;
  };
  std::string_view type;
  std::vector<Held> held;
  std::string_view forward;                 // empty: it gives its input back
  std::vector<std::string_view> arguments;  // of that operator: "0" and "1" inputs, "" left out, else held
  int least = 0, most = 16;                 // dimensions that the first input may have
};
// By type, or by the name of its forward; null where the interpreter knows none.
const LibraryModule* find_library_module(std::string_view name);
// Those that generated programs make.
const std::vector<LibraryModule>& library_modules();

inline constexpr std::string_view kSequential = "torch::nn::Sequential";
inline constexpr std::string_view kSequentialForward = "torch::nn::Sequential::forward";
inline constexpr std::string_view kForward = "forward";

}  // namespace dtype_guard::oracle
