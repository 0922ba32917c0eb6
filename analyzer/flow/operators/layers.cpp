#include "analyzer/flow/operators/layers.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "analyzer/flow/operators/watched_operator.h"
#include "rules/operators/library_names.h"

namespace dtype_guard::flow {
namespace {

constexpr std::string_view kWeight = name_of(Named::kWeight);

// By its row alone: what it is called on and a weight take part and must be equal.
bool is_layer(const Operator& op) {
  const auto& all = op.promoting;
  return op.result == ResultRule::kRequireSame && !op.in_place && op.unchecked.empty() && !all.empty() &&
         all.front() != kWeight && all.front() == op.arguments.front() &&
         std::find(all.begin(), all.end(), kWeight) != all.end();
}

}  // namespace

const Api* layer_contract(const Operator& op) {
  static const std::map<std::string_view, Api> kApis = [] {
    std::map<std::string_view, Api> made;
    for (const Operator& each : all_operators()) {
      if (is_layer(each))
        made.emplace(each.name, equal_operands(each, ApiKind::kAttention, each.promoting.front(), kWeight));
    }
    return made;
  }();
  const auto found = kApis.find(op.name);
  return found == kApis.end() ? nullptr : &found->second;
}

}  // namespace dtype_guard::flow
