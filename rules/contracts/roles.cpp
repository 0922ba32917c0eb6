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

}  // namespace

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
