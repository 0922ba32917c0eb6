// Fields that others than constructors may have set: an option struct's defaults say nothing of an object
// that a caller hands in.
#include <algorithm>

#include "analyzer/flow/roots/inputs.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;

// Values of which a constructor's is not the last word; tensors and objects keep theirs, as do values that a
// constructor was handed.
Alternative opened(const Alternative& from, const Parameter& field, SymbolSetId own) {
  Alternative out = from;
  switch (from.kind) {
    case Kind::kNumber:
    case Kind::kBool:
    case Kind::kString:
      if (!from.has_number || from.symbols) return from;
      out.has_number = false;
      out.number = 0;
      break;
    case Kind::kDtype:
      if (from.dtype == Dtype::kUndefined || from.assumed || from.symbols) return from;
      return Value::unknown(own).alternatives().front();
    case Kind::kOptions:
      return Value::unknown(own).alternatives().front();
    case Kind::kNone:
      if (field.kind == ParameterKind::kNumber) return from;
      return Value::unknown(own).alternatives().front();
    default:
      return from;
  }
  out.symbols = own;
  if (from.kind == Kind::kBool) out.truth = Truth::kSymbol;
  return out;
}
}  // namespace

// Of the object and of all that it holds.
void Inputs::open_fields(State& state, const Value& value, std::vector<HeapId>& seen) {
  for (const Alternative& each : value) {
    const HeapObject* object = each.kind == Kind::kObject ? state.find(each.object) : nullptr;
    if (!object || std::find(seen.begin(), seen.end(), each.object) != seen.end()) continue;
    seen.push_back(each.object);
    const std::vector<Parameter>& settable = program_.fields.settable(object->type);
    for (const Parameter& one : settable) {
      const auto cell = state.find(each.object)->cells.find(ids_.field(one.name));
      if (cell == state.find(each.object)->cells.end()) continue;
      const SymbolSetId own =
          memory_.symbols_of_field(each.object, *state.find(each.object), ids_.field(one.name).id);
      Value open;
      const Value made = cell->second;
      for (const Alternative& old : made) open = join(open, Value(opened(old, one, own)), symbols_);
      if (!(open == made)) state.change(each.object).cells[ids_.field(one.name)] = open;
    }
    std::vector<Value> below;
    for (const auto& [key, cell] : state.find(each.object)->cells) below.push_back(cell);
    for (const Registration& one : state.find(each.object)->registered) below.push_back(one.value);
    for (const Value& one : below) open_fields(state, one, seen);
  }
}

}  // namespace dtype_guard::flow
