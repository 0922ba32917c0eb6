#include "analyzer/flow/operators/participants.h"

#include <algorithm>

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}
}  // namespace

std::string shown_name(const Operator& op) { return op.name.substr(0, op.name.find('.')); }

bool is_unknown(const Alternative& each) {
  return each.kind == Kind::kUnknown || each.kind == Kind::kTop ||
         (each.kind == Kind::kTensor && each.dtype == Dtype::kUndefined);
}

std::vector<const ChosenInput*> participants(const Operator& op, const std::vector<ChosenInput>& inputs) {
  std::vector<const ChosenInput*> out;
  const bool makes = op.result == ResultRule::kFactory || op.result == ResultRule::kFactoryFromValue;
  for (const ChosenInput& input : inputs) {
    // A device or generator that is not known says nothing of a dtype.
    if (makes && !contains(op.arguments, input.argument)) continue;
    const bool takes_part = op.promoting.empty() ? out.empty() : contains(op.promoting, input.argument);
    if (takes_part && input.alternative->kind != Kind::kNone) out.push_back(&input);
  }
  return out;
}

}  // namespace dtype_guard::flow
