#include "analyzer/flow/operators/watched_operator.h"

#include "rules/operators/devices.h"
#include "rules/operators/version.h"

namespace dtype_guard::flow {
namespace {

// Under autocast a listed operator casts both, whatever the policy; variants in place are not listed.
void add_autocast(const Operator& op, Api& api) {
  if (op.in_place && !op.out_calls_operator) return;
  for (const std::string_view each : kDevices) {
    const std::string device(each);
    for (const std::string_view release : kTorchReleases) {
      if (autocast_policy(op.name, device, release) == AutocastPolicy::kNone) continue;
      api.autocast[device] = AutocastBehaviour::kRecasts;
      api.autocast_since[device] = release;
      break;
    }
  }
}

}  // namespace

Api equal_operands(const Operator& op, ApiKind kind, std::string_view first, std::string_view second) {
  Api api;
  api.name = op.name;
  api.library = "torch";
  api.kind = kind;
  api.spellings = {api.name};
  for (std::size_t i = 0; i < op.arguments.size(); ++i) {
    if (op.arguments[i] != first && op.arguments[i] != second) continue;
    Operand& operand = api.operands.emplace_back();
    operand.role = op.arguments[i];
    operand.argument = static_cast<int>(i);
    if (api.operands.size() == 2) operand.same_as = api.operands.front().role;
  }
  add_autocast(op, api);
  return api;
}

}  // namespace dtype_guard::flow
