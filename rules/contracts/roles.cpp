#include "rules/contracts/roles.h"

#include <array>
#include <utility>

namespace dtype_guard {
namespace {

#define ROLE(name, kind) std::pair<std::string_view, RoleKind>{name, RoleKind::kind},
constexpr std::array kRoles = {
#include "rules/contracts/roles.inc"
};
#undef ROLE

constexpr std::pair<std::string_view, std::string_view> kMeant[] = {{"query", "q"},
                                                                    {"query_states", "q"},
                                                                    {"key", "k"},
                                                                    {"key_states", "k"},
                                                                    {"value", "v"},
                                                                    {"value_states", "v"},
                                                                    {"output", "out"},
                                                                    {"result", "out"},
                                                                    {"attn_output", "out"},
                                                                    {"grad_output", "dout"},
                                                                    {"attn_mask", "mask"},
                                                                    {"attention_mask", "mask"},
                                                                    {"attn_bias", "bias"},
                                                                    {"position_bias", "bias"},
                                                                    {"softmax_lse", "lse"},
                                                                    {"logsumexp", "lse"},
                                                                    {"key_cache", "k_cache"},
                                                                    {"value_cache", "v_cache"},
                                                                    {"slopes", "alibi_slopes"},
                                                                    {"position_ids", "positions"},
                                                                    {"block_tables", "block_table"},
                                                                    {"page_table", "block_table"},
                                                                    {"cu_seqlens", "cu_seqlens_q"},
                                                                    {"input", "x"},
                                                                    {"hidden_states", "x"},
                                                                    {"rotary_cos", "cos"},
                                                                    {"rotary_sin", "sin"},
                                                                    {"cos_sin_cache", "cos_sin"},
                                                                    {"grad_query", "dq"},
                                                                    {"grad_key", "dk"},
                                                                    {"grad_value", "dv"}};

}  // namespace

std::string_view role_meant_by(std::string_view word) {
  for (const auto& [written, role] : kMeant) {
    if (written == word) return role;
  }
  return {};
}

std::optional<RoleKind> role_kind(std::string_view role) {
  for (const auto& [name, kind] : kRoles) {
    if (name == role) return kind;
  }
  return std::nullopt;
}

const std::vector<std::string>& all_roles() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> made;
    for (const auto& [name, kind] : kRoles) made.emplace_back(name);
    return made;
  }();
  return names;
}

}  // namespace dtype_guard
