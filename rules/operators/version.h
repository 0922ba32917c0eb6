// A PyTorch version as far as the tables tell releases apart: major and minor. Semantics change with minor
// releases only.
#pragma once

#include <array>
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

// The releases that the tables speak of, in order.
inline constexpr std::array<std::string_view, 15> kTorchReleases = {"1.13", "2.0",  "2.1",  "2.2",  "2.3",
                                                                    "2.4",  "2.5",  "2.6",  "2.7",  "2.8",
                                                                    "2.9",  "2.10", "2.11", "2.12", "2.13"};

}  // namespace dtype_guard
