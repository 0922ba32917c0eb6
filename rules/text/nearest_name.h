// The known name closest to a misspelt one, for "did you mean" in messages.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace dtype_guard {

// Insertions, deletions, substitutions and swaps of neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b);
// Empty when no name is within a third of the written name's length (at least 2 edits) and none goes on from
// it: "attention-mixd" for "attention-mixed-dtypes".
std::string nearest_name(std::string_view written, std::span<const std::string> known);
// ", did you mean \"X\"?" or nothing.
std::string did_you_mean(std::string_view written, std::span<const std::string> known);

}  // namespace dtype_guard
