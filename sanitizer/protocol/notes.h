// Notes of a journal that are recognised by their text: the closing line of a run repeats them.
#pragma once

#include <string_view>

namespace dtype_guard::san {

// After how many they are and "child" or "children".
inline constexpr std::string_view kBareChildren =
    " became another program by exec without libdtype_san.so in LD_PRELOAD: what that called was not "
    "watched. ";

}  // namespace dtype_guard::san
