// Tensors that an object has from a method of its own, called between the constructor and the root: a setter,
// or what loads weights. Where no other code can set such a tensor, and each setter leaves it in one dtype, a
// root that uses it is handed that.
#include <algorithm>

#include "analyzer/flow/engine/held_values.h"
#include "analyzer/flow/roots/other_methods.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
constexpr std::size_t kMaxTried = 16;  // for one root

// As a constructor leaves what it does not set; what `own` decides, where anyone might set it; or as a caller
// hands it in.
bool is_open(const Value& value, SymbolSetId own) {
  const Alternative* one = value.single();
  return one && (one->kind == Kind::kNone || (one->kind == Kind::kUnknown && one->symbols == own) ||
                 (one->kind == Kind::kTensor && one->assumed && !one->origin));
}
}  // namespace

// Bottom where they do not leave it in one dtype.
Value OtherMethods::set_by(const std::vector<std::uint32_t>& setters, HeapId object, const Key& key,
                           const State& begun, ContextId root) {
  Value out;
  for (const std::uint32_t setter : setters) {
    const std::optional<State> after = after_method(setter, object, begun, root);
    const HeapObject* now = after ? after->find(object) : nullptr;
    const auto cell = now ? now->cells.find(key) : Cells::const_iterator();
    if (!now || cell == now->cells.end()) return {};
    for (Alternative each : cell->second) {
      const bool known = each.kind == Kind::kTensor && is_floating(each.dtype) && !each.assumed;
      if (each.kind == Kind::kNone) continue;
      if (!known || each.uncertain || (!out.is_bottom() && out.begin()->dtype != each.dtype)) return {};
      each.rank.symbol = 0;
      out = join(out, Value(each), symbols_);
    }
  }
  return out;
}

// Whether it was set goes with whatever its setters set along with it.
void OtherMethods::give_what_setters_do(State& state, const std::vector<Value>& arguments, std::uint32_t root,
                                        ContextId context) {
  std::optional<std::set<std::uint32_t>> seen_by_root;
  std::size_t tried = 0;
  const State begun = state;
  for (const HeapId id : objects_below(begun, arguments)) {
    const HeapObject& object = *begun.find(id);
    if (object.type.empty() || object.kind != HeapObject::Kind::kInstance) continue;
    for (const Fields::SetLater& each : program_.fields.set_later(object.type)) {
      const auto cell = object.cells.find(ids_.field(each.field));
      const SymbolSetId own = memory_.symbols_of_field(id, object, ids_.field(each.field).id);
      if (cell == object.cells.end() || !is_open(cell->second, own)) continue;
      if (!seen_by_root) seen_by_root = index_.reached_from(root);
      const auto seen = [&](std::uint32_t function) { return seen_by_root->contains(function); };
      if (std::any_of(each.setters.begin(), each.setters.end(), seen)) continue;
      if (std::none_of(each.readers.begin(), each.readers.end(), seen)) continue;
      tried += each.setters.size();
      if (tried > kMaxTried) return;
      const Value set = set_by(each.setters, id, cell->first, begun, context);
      if (set.is_bottom()) continue;
      std::vector<Alternative> open = set.alternatives();
      open.push_back(Alternative::of(Kind::kNone));
      for (Alternative& one : open) one.symbols = own;
      state.change(id).cells[cell->first] = Value(std::move(open));
    }
  }
}

}  // namespace dtype_guard::flow
