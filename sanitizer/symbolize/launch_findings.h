// What the launched kernels' names say: attention in float32 where a fused half-precision kernel was asked
// for, operands built for different dtypes, or a kernel built for another dtype than the descriptor says that
// its operand came with. A name is evidence only as far as sources/cupti/names proves it; without a word from
// the user about what was asked for, an unusual kernel is a note.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rules/finding/finding.h"
#include "sanitizer/sources/cupti/names/kernel_name.h"
#include "sanitizer/symbolize/journal_reader.h"

namespace dtype_guard::san {

// The source that records launches.
inline constexpr std::string_view kLaunchSource = "cupti";

// The attention backend that the user expects (option `expect`).
std::optional<cupti::Backend> parse_backend(const std::string& word);

// Nothing when neither the kernel's name nor the call that it was launched in gives a reason for one. The
// finding lacks location and backtrace.
std::optional<Finding> launch_finding(const JournalLaunch& launch, std::optional<cupti::Backend> expected);

// The stack of a launch without the frames of CUDA's own libraries, which it begins with.
std::vector<StackFrame> without_cuda(std::vector<StackFrame> stack);

// "q, k and v".
std::string in_words(const std::vector<std::string>& roles);

// "12 launches of 3 kernels, 1 of them attention".
std::string describe_launches(const std::vector<JournalLaunch>& launches);

}  // namespace dtype_guard::san
