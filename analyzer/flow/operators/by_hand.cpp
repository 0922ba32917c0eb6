#include "analyzer/flow/operators/by_hand.h"

#include <string_view>

#include "rules/operators/devices.h"

namespace dtype_guard::flow {
namespace {

void add(Api& api, std::string_view role, std::string_view same_as) {
  Operand& operand = api.operands.emplace_back();
  operand.role = role;
  operand.argument = static_cast<int>(api.operands.size()) - 1;
  operand.same_as = same_as;
}

}  // namespace

const Api& rotation_by_hand() {
  static const Api made = [] {
    Api api;
    api.name = "rotary embedding by hand";
    api.library = "torch";
    api.kind = ApiKind::kRotary;
    add(api, "x", "");
    add(api, "out", "x");
    add(api, "out2", "x");
    for (const std::string_view device : kDevices)
      api.autocast[std::string(device)] = AutocastBehaviour::kRecasts;
    return api;
  }();
  return made;
}

const Api& dtype_check() {
  static const Api made = [] {
    Api api;
    api.name = "dtype check";
    api.library = "torch";
    api.kind = ApiKind::kAttention;
    add(api, "left", "");
    add(api, "right", "left");
    return api;
  }();
  return made;
}

}  // namespace dtype_guard::flow
