// The vocabulary of operand roles (roles.inc) and what each is for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dtype_guard {

enum class RoleKind : std::uint8_t {
  kInput,       // q, k, v, x and their gradients' inputs
  kWeight,      // what the call projects with: qkv_weight, proj_weight, proj_bias
  kOutput,      // out, dq, dk, dv
  kTable,       // cos, sin
  kCache,       // k_cache, v_cache
  kMask,        // mask, bias
  kSlopes,      // ALiBi slopes
  kStatistics,  // log-sum-exp, recurrent state
  kIndex,       // lengths, block tables, positions
};

std::optional<RoleKind> role_kind(std::string_view role);
const std::vector<std::string>& all_roles();
// The role that another library's word means ("query" is "q"); empty for any other.
std::string_view role_meant_by(std::string_view word);

}  // namespace dtype_guard
