// A PyTorch version as far as the tables tell releases apart: major and minor. Semantics change with minor
// releases only.
#pragma once

#include <charconv>
#include <string_view>
#include <utility>

namespace dtype_guard {

// "2.12.1+cu130" is {2, 12}; text that is no version is {0, 0}.
using TorchVersion = std::pair<int, int>;

inline TorchVersion parse_torch_version(std::string_view text) {
  TorchVersion version{0, 0};
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, version.first);
  if (major.ptr != end && *major.ptr == '.') std::from_chars(major.ptr + 1, end, version.second);
  return version;
}

}  // namespace dtype_guard
