// The devices that contracts and autocast's policies speak of, by PyTorch's names, as --device takes them.
#pragma once

#include <array>
#include <string_view>

namespace dtype_guard {

inline constexpr std::array<std::string_view, 4> kDevices = {"cuda", "cpu", "mps", "xpu"};

}  // namespace dtype_guard
