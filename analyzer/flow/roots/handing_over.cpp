// What anyone may have done to an object between its constructor and the root: modules are as the setting has
// them, and fields that others than constructors may set are open. An option struct's defaults say nothing
// of an object that a caller hands in.
#include <algorithm>

#include "analyzer/flow/roots/inputs.h"
#include "analyzer/flow/settings/module_types.h"
#include "analyzer/flow/state/as_made.h"

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
      out.handed_in = true;
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

namespace {
// What a tensor of a module is in the setting.
void set_contents(State& state, HeapId id, Dtype dtype, bool buffer, SymbolSets& symbols) {
  Value contents, unconverted;
  const HeapObject& tensor = *state.find(id);
  for (Alternative old : tensor.cells.at(HeapObject::kContents)) {
    if (!is_unconverted(tensor, old)) {
      contents = join(contents, Value(old), symbols);
      continue;
    }
    // Integer buffers stay what they are.
    const bool floating =
        old.kind != Kind::kTensor || old.dtype == Dtype::kUndefined || is_floating(old.dtype);
    // float32 in a setting means no conversion: what the constructor made of it stays. So does a buffer of
    // which it is not known in what dtype that was: the one that it was told may be what autocast computes
    // in.
    const bool as_made =
        dtype == Dtype::kFloat32 && old.kind == Kind::kTensor && (old.dtype != Dtype::kUndefined || buffer);
    const bool differs = old.kind != Kind::kTensor || old.dtype != dtype;
    if (floating && old.kind != Kind::kNone && differs && !as_made) {
      Alternative converted = Alternative::tensor(dtype, old.kind == Kind::kTensor ? old.rank : Rank{});
      converted.lineage = old.lineage;
      if (tensor.stated) {  // on the paths that do not convert it
        converted.symbols = old.symbols;
        converted.uncertain = converted.uncertain || old.uncertain;
      }
      old = converted;
    }
    old.assumed = old.assumed || floating;
    unconverted = join(unconverted, Value(old), symbols);
    contents = join(contents, Value(old), symbols);
  }
  HeapObject& changed = state.change(id);
  changed.cells[HeapObject::kContents] = contents;
  changed.of_setting = !changed.stated;
  if (changed.stated) set_as_made(changed, unconverted);
}
}  // namespace

void Inputs::apply_setting(State& state, const Value& value, std::vector<HeapId>& seen, bool half_buffers) {
  for (const Alternative& each : value) {
    if (each.kind != Kind::kObject || std::find(seen.begin(), seen.end(), each.object) != seen.end())
      continue;
    seen.push_back(each.object);
    const HeapObject* object = state.find(each.object);
    if (!object) continue;
    const ModuleType* type = find_module_type(object->type);
    const bool is_norm = type && type->norm;
    for (const Registration& one : std::vector<Registration>(object->registered.get())) {
      if (one.kind == Registration::Kind::kModule) {
        apply_setting(state, one.value, seen, half_buffers);
        continue;
      }
      const bool buffer = one.kind == Registration::Kind::kBuffer && !half_buffers;
      const bool norm = is_norm && one.kind == Registration::Kind::kParameter;
      const Dtype dtype = buffer ? setting_.buffers : norm ? setting_.norms : setting_.parameters;
      // One that may be left out is None or a parameter.
      for (const Alternative& handle : one.value) {
        const HeapObject* tensor = handle.kind == Kind::kHandle ? state.find(handle.object) : nullptr;
        if (tensor && may_be_unconverted(*tensor))
          set_contents(state, handle.object, dtype, buffer, symbols_);
      }
    }
  }
}

void Inputs::hand_over(State& state, const Value& object, const std::string& class_name, bool is_whole) {
  std::vector<HeapId> opened, seen;
  open_fields(state, object, opened);
  const bool half_buffers = is_whole && made_half_.buffers_are_made_half(class_name);
  apply_setting(state, object, seen, half_buffers);
}

}  // namespace dtype_guard::flow
