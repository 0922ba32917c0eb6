// Names of libtorch's functions that the tool looks for too, in the file.
#pragma once

namespace dtype_guard::san::torch {

// at::addGlobalCallback: every libtorch has it, and the source begins with it.
inline constexpr char kAddGlobalCallback[] = "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE";

}  // namespace dtype_guard::san::torch
