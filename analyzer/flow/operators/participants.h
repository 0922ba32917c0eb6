// Of an operator's inputs, those that its result may have its dtype from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/flow/values/values.h"
#include "rules/operators/operators.h"

namespace dtype_guard::flow {

struct ChosenInput {
  std::string_view argument;
  const Alternative* alternative;
  ValueId value = 0;
};

std::vector<const ChosenInput*> participants(const Operator& op, const std::vector<ChosenInput>& inputs);

bool is_unknown(const Alternative& each);  // of no known dtype
// The widest of its operands, integers aside.
inline bool promotes(const Operator& op) {
  return op.result == ResultRule::kPromote || op.result == ResultRule::kPromoteIntToFloat;
}
std::string shown_name(const Operator& op);  // "div" for its form "div.rounded"

}  // namespace dtype_guard::flow
