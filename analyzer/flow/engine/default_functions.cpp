#include "analyzer/flow/engine/default_functions.h"

#include <algorithm>
#include <set>

namespace dtype_guard::flow {

bool is_function_by_default(const Parameter& parameter) {
  return parameter.kind == ParameterKind::kOther && !parameter.type.empty() && parameter.default_value &&
         std::holds_alternative<Unknown>(*parameter.default_value);
}

bool stands_for_default(const Function& code, const Parameter& parameter) {
  const bool is_none = parameter.default_value && std::holds_alternative<None>(*parameter.default_value);
  if (!is_none || parameter.kind != ParameterKind::kOther) return false;
  std::set<ValueId> made;
  bool is_stored = false;
  for (const Block& block : code.blocks) {
    for (const Instruction& each : block.instructions) {
      const auto is_made = [&](const Argument& given) { return made.contains(given.value); };
      const bool hands_on = (each.op == Op::kPhi || each.op == Op::kCopy) &&
                            std::any_of(each.args.begin(), each.args.end(), is_made);
      const bool is_one = each.op == Op::kClosure || (each.op == Op::kObject && each.name != kDictionary);
      if (hands_on || is_one) made.insert(each.result);
      const bool stores = each.op == Op::kStore && each.place.base == 0 && each.place.path.empty() &&
                          each.place.variable < code.variables.size() &&
                          code.variables[each.place.variable] == parameter.name;
      is_stored = is_stored || (stores && std::any_of(each.args.begin(), each.args.end(), is_made));
    }
  }
  return is_stored;
}

Value default_function(const Parameter& parameter, const FunctionIndex& index, ContextId context,
                       Identities& ids, State& state) {
  if (!is_function_by_default(parameter)) return {};
  const std::vector<std::uint32_t>& functions = index.find(parameter.type);
  if (functions.empty()) return {};
  HeapObject captures_nothing;
  captures_nothing.kind = HeapObject::Kind::kClosure;
  const HeapId id = ids.object(context, &parameter);
  state.put(id, std::move(captures_nothing));
  Alternative out = Alternative::at(Alternative::Kind::kClosure, id);
  out.function = functions.front();
  return Value(out);
}

}  // namespace dtype_guard::flow
