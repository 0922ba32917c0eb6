// What a value is as a tensor: through handles, references and descriptors.
#include <algorithm>

#include "analyzer/flow/engine/held_values.h"
#include "analyzer/flow/engine/memory/memory.h"
#include "analyzer/flow/values/ranks.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
constexpr int kMaxIndirections = 8;

void add(std::vector<Alternative>& out, const Alternative& each) {
  if (std::none_of(out.begin(), out.end(), [&](const Alternative& other) { return other == each; })) {
    out.push_back(each);
  }
}

bool are_never_together(const Alternative& handle, const Alternative& held, const SymbolSets& symbols) {
  return handle.kind == Kind::kHandle && held.kind == Kind::kTensor && !handle.elsewhere && !held.elsewhere &&
         symbols.relation(handle.symbols, held.symbols) == SymbolSets::Relation::kContradict;
}

Alternative unknown(const Alternative& from) {
  Alternative out = Alternative::of(Kind::kUnknown);
  out.uncertain = true;
  out.symbols = from.symbols;
  return out;
}
}  // namespace

std::vector<Alternative> Memory::tensors(const State& state, const Value& value, int depth) {
  std::vector<Alternative> out;
  for (const Alternative& each : value) {
    if (depth > kMaxIndirections) {
      add(out, unknown(each));
      continue;
    }
    std::vector<Alternative> inner;
    const HeapObject* object = each.object ? state.find(each.object) : nullptr;
    switch (each.kind) {
      case Kind::kHandle: {
        const auto contents =
            object ? object->cells.find(HeapObject::kContents) : decltype(object->cells.end()){};
        inner = object && contents != object->cells.end() ? tensors(state, contents->second, depth + 1)
                                                          : std::vector<Alternative>{unknown(each)};
        break;
      }
      case Kind::kReference:
        inner = tensors(state, read(state, Location{each.object, each.key}), depth + 1);
        break;
      case Kind::kObject:
        inner = object ? descriptor(state, *object, depth + 1) : std::vector<Alternative>{unknown(each)};
        break;
      case Kind::kTop:
        inner = {unknown(each)};
        break;
      default:
        inner = {each};
        break;
    }
    const bool are_apart = std::all_of(inner.begin(), inner.end(), [&](const Alternative& one) {
      return are_never_together(each, one, symbols_);
    });
    for (Alternative& one : inner) {
      // What it holds where something else refers to it.
      if (!are_apart && are_never_together(each, one, symbols_)) continue;
      // How the handle got here counts for its contents too.
      one.uncertain = one.uncertain || each.uncertain;
      if (one.kind == Kind::kTensor) one.rank = state.ranks.known(one.rank);
      if (one.kind == Kind::kTensor && each.kind != Kind::kTensor)
        one.symbols = symbols_.unite(one.symbols, each.symbols);
      add(out, one);
    }
  }
  return out;
}

std::vector<Alternative> Memory::descriptor(const State& state, const HeapObject& object, int depth) {
  const auto dtype = object.cells.find(ids_.field("dtype"));
  const auto data = object.cells.find(ids_.field("data"));
  std::vector<Alternative> out;
  if (dtype == object.cells.end()) {
    // A view class with one tensor behind it (std::optional<Tensor> lowered as an object, a unique_ptr).
    if (data != object.cells.end()) return tensors(state, data->second, depth);
    out.push_back(unknown(Alternative{}));
    return out;
  }
  const std::vector<Alternative> behind =
      data == object.cells.end() ? std::vector<Alternative>{} : tensors(state, data->second, depth);
  for (const Alternative& each : dtype->second) {
    const Step* by = each.kind == Kind::kDtype ? origins_.find(each.trail, Step::Kind::kDescribed) : nullptr;
    if (each.kind != Kind::kDtype || each.dtype == Dtype::kUndefined) {
      add(out, unknown(each));
      continue;
    }
    Alternative tensor = Alternative::tensor(each.dtype, Rank::at_least(1));
    tensor.uncertain = each.uncertain;
    tensor.symbols = each.symbols;
    tensor.assumed = each.assumed;
    bool found = false;
    if (by && behind.size() == 1 && behind[0].kind == Kind::kTensor && behind[0].dtype != each.dtype) {
      tensor = described(behind[0], tensor, by->function, by->instruction);
    }
    for (const Alternative& buffer : behind) {
      const bool has_dimensions = buffer.rank.wrapped || buffer.rank.max > 0;
      if (buffer.kind != Kind::kTensor || buffer.dtype != each.dtype || !has_dimensions) continue;
      // The dtype that is stated is certain; that it describes this data is not.
      if (buffer.uncertain && !tensor.uncertain) continue;
      found = true;
      Alternative one = tensor;
      one.displaced = buffer.displaced;
      one.elsewhere = buffer.elsewhere;
      one.origin = buffer.origin;
      one.trail = buffer.trail;
      one.symbols = symbols_.unite(tensor.symbols, buffer.symbols);  // what led to the data
      add(out, one);
    }
    if (!found) add(out, tensor);
  }
  return out;
}

// A reference may lead back to itself.
bool Memory::is_list(const State& state, const Value& given) {
  Value value = given;
  for (int depth = 0; depth < kMaxIndirections; ++depth) {
    const Alternative* one = value.single();
    if (!one || one->kind != Kind::kReference) break;
    value = read(state, Location{one->object, one->key});
  }
  return is_container(state, value);
}

std::vector<Value> Memory::elements(const State& state, const Value& given) {
  Value value = given;
  for (int depth = 0; depth < kMaxIndirections; ++depth) {
    const Alternative* one = value.single();
    if (!one || one->kind != Kind::kReference) break;
    value = read(state, Location{one->object, one->key});
  }
  if (!is_container(state, value)) return {value};
  const HeapObject& object = *state.find(value.single()->object);
  std::vector<Value> out;
  for (const auto& [key, cell] : object.cells) {
    if (key.kind == Key::Kind::kIndex) out.push_back(cell);
  }
  if (!object.rest.is_bottom()) out.push_back(object.rest);
  return out;
}

// The tensor behind a descriptor, or behind a pointer that was cast: `seen` is what the callee takes it for.
Alternative Memory::described(const Alternative& data, Alternative seen, std::uint32_t function,
                              const Instruction* by) {
  const bool stated = !data.assumed && !seen.assumed;
  const Origin* origin = origins_.find(data.origin);
  const bool promoted = origin && origin->kind == Origin::Kind::kPromotion;
  const bool lies = is_known_tensor(data) && is_floating(data.dtype) && is_floating(seen.dtype) &&
                    data.dtype != seen.dtype && !data.uncertain && !seen.uncertain && (stated || promoted);
  if (!lies || !by) return seen;
  Step step{0, 0, function, by, "describe", data.dtype, seen.dtype, "described as another dtype"};
  step.kind = Step::Kind::kDescribed;
  step.other = data.dtype;
  seen.origin = data.origin;
  seen.trail = origins_.step(data.trail, data.origin, std::move(step));
  seen.symbols = symbols_.unite(seen.symbols, data.symbols);
  return seen;
}

}  // namespace dtype_guard::flow
