#include "analyzer/flow/operators/stores.h"

#include <map>
#include <string_view>

#include "rules/operators/version.h"

namespace dtype_guard::flow {
namespace {

bool is_in_place_variant(const Operator& op) { return op.in_place && op.name.ends_with('_'); }

// By its row alone: two tensors take part, must be equal, and the first gives the result its dimensions and
// can be written in place.
bool is_store(const Operator& op) {
  const bool pair = op.result == ResultRule::kRequireSame && op.rank == RankRule::kLikeFirst &&
                    op.promoting.size() == 2 && op.promoting.front() == "self" &&
                    op.arguments.front() == "self" && op.unchecked.empty() && op.free_scalar.empty();
  return pair && (is_in_place_variant(op) || find_operator(op.name + "_") != nullptr);
}

// Under autocast a listed operator casts both, whatever the policy; variants in place are not listed.
void add_autocast(const Operator& op, Api& api) {
  if (op.in_place && !op.out_calls_operator) return;
  for (const char* device : {"cuda", "cpu", "xpu", "mps"}) {
    for (const std::string_view release : kTorchReleases) {
      if (autocast_policy(op.name, device, release) == AutocastPolicy::kNone) continue;
      api.autocast[device] = AutocastBehaviour::kRecasts;
      api.autocast_since[device] = release;
      break;
    }
  }
}

Api contract(const Operator& op) {
  Api api;
  api.name = op.name;
  api.library = "torch";
  api.kind = ApiKind::kKvCache;
  api.spellings = {api.name};
  for (std::size_t i = 0; i < op.arguments.size(); ++i) {
    if (op.arguments[i] != op.promoting[0] && op.arguments[i] != op.promoting[1]) continue;
    Operand& operand = api.operands.emplace_back();
    operand.role = op.arguments[i];
    operand.argument = static_cast<int>(i);
    if (api.operands.size() == 2) operand.same_as = api.operands.front().role;
  }
  add_autocast(op, api);
  return api;
}

}  // namespace

const Api* store_contract(const Operator& op) {
  static const std::map<std::string_view, Api> kApis = [] {
    std::map<std::string_view, Api> made;
    for (const auto* table : {&all_operators(), &all_variants()}) {
      for (const Operator& each : *table) {
        if (is_store(each)) made.emplace(each.name, contract(each));
      }
    }
    return made;
  }();
  const auto found = kApis.find(op.name);
  return found == kApis.end() ? nullptr : &found->second;
}

}  // namespace dtype_guard::flow
