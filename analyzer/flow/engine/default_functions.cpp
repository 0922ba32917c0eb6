#include "analyzer/flow/engine/default_functions.h"

namespace dtype_guard::flow {

bool is_function_by_default(const Parameter& parameter) {
  return parameter.kind == ParameterKind::kOther && !parameter.type.empty() && parameter.default_value &&
         std::holds_alternative<Unknown>(*parameter.default_value);
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
