#include "analyzer/flow/operators/stores.h"

#include <string_view>
#include <unordered_map>

#include "analyzer/flow/operators/watched_operator.h"
#include "rules/operators/library_names.h"

namespace dtype_guard::flow {
namespace {

bool is_in_place_variant(const Operator& op) { return op.in_place && op.name.ends_with('_'); }

// By its row alone: two tensors take part, must be equal, and the first gives the result its dimensions and
// can be written in place.
bool is_store(const Operator& op) {
  const bool pair = op.result == ResultRule::kRequireSame && op.rank == RankRule::kLikeFirst &&
                    op.promoting.size() == 2 && is_named(Named::kReceiver, op.promoting.front()) &&
                    is_named(Named::kReceiver, op.arguments.front()) && op.unchecked.empty() &&
                    op.free_scalar.empty();
  return pair && (is_in_place_variant(op) || find_operator(op.name + "_") != nullptr);
}

}  // namespace

const Api* store_contract(const Operator& op) {
  static const std::unordered_map<std::string_view, Api> kApis = [] {
    std::unordered_map<std::string_view, Api> made;
    for (const auto* table : {&all_operators(), &all_variants()}) {
      for (const Operator& each : *table) {
        if (is_store(each))
          made.emplace(each.name,
                       equal_operands(each, ApiKind::kKvCache, each.promoting[0], each.promoting[1]));
      }
    }
    return made;
  }();
  const auto found = kApis.find(op.name);
  return found == kApis.end() ? nullptr : &found->second;
}

}  // namespace dtype_guard::flow
