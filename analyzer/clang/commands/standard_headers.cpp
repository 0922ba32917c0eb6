#include "analyzer/clang/commands/standard_headers.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace dtype_guard::clang_front_end {
namespace {

constexpr const char* kFolder = "/dtype-lint/standard_headers";

// libstdc++ declares these names where the compiler has extended floating-point types, which Clang calls by
// names of its own.
constexpr const char* kStdfloat = R"(#pragma once
namespace std {
using float16_t = _Float16;
using bfloat16_t = __bf16;
using float32_t = float;
using float64_t = double;
}
)";

}  // namespace

std::vector<std::string> standard_arguments(const std::vector<std::string>& arguments) {
  static constexpr std::array<std::string_view, 4> kSince = {"++23", "++2b", "++26", "++2c"};
  const auto standard = std::find_if(arguments.rbegin(), arguments.rend(), [](const std::string& each) {
    return each.starts_with("-std=") || each.starts_with("--std=");
  });
  const bool has = standard != arguments.rend() &&
                   std::any_of(kSince.begin(), kSince.end(),
                               [&](std::string_view each) { return standard->ends_with(each); });
  return has ? std::vector<std::string>{"-isystem", kFolder} : std::vector<std::string>{};
}

const std::map<std::string, std::string>& standard_headers() {
  static const std::map<std::string, std::string> headers = {{std::string(kFolder) + "/stdfloat", kStdfloat}};
  return headers;
}

}  // namespace dtype_guard::clang_front_end
